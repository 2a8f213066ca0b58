"""What `windrow demo` runs: live streams made here, and queries over them.

clusters/   Congested areas of a city, as clusters that live and move
ticks/      Stock ticks: answers as they come, and a comparison with Spark's own windows
check       A demo's last answers beside the same computed without Windrow, from the files of its events
demo        What a demo has to have
live_files  Events that happen as time goes by, written as Parquet files
new_files   The rows that have come into a folder since somebody looked last
run         Demos: a stream that is made up as it goes, a script of queries over it, and their answers as they change
show        A demo's answers for as long as it runs: a picture that changes in a terminal, a line now and then elsewhere
"""
