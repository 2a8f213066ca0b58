"""Where rows come from: files and their columns, any streaming DataFrame, heartbeats.

failures       Counting what fails: row expressions that overflow, divide by zero or cannot cast give NULL, and are
               counted
file_columns   Whether files have the columns that are declared of them: Spark would read NULLs for one that is not
               there
heartbeat      The heartbeat of a stream on Spark: a source with a row for each beat, so that a batch runs though no
               event comes
missing_files  Input files that are gone by the time a batch reads them
read           Streams and tables on Spark
"""
