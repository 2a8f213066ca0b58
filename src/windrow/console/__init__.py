"""The console: a page that belongs to a running job, or to queries in replay, and the server that gives it.

door        `windrow.open_console(...)`: the page and the server of a job, until the job ends
mistakes    The queries of a script as a running job would take them: read and checked, and nothing started
of_job      A job on Spark, as the console asks it
of_replay   Queries over sample streams, by replay in this process: the console without Spark's start
preview     The answers that a query would have over recent events, by replay: a look before it is added
samples     Sample streams, made up as the clock goes: prices of twelve stocks, and cars that drive through a town
vocabulary  What an editor completes: words of the language, functions, aggregates, and what the streams have
"""
