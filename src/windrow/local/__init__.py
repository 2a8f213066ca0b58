"""Replay: the same plans and shards in one process, without Spark, with a clock that can be set.

answer_once     A query over rows that are there: one answer, of one window that holds them all
arrivals        The wall clock of a replay: when each batch arrives, and when the clock is looked at although nothing
                does
ask             SQL over what indexes hold now: `SELECT AVG(speed) FROM speeds WHERE xway = 1 AND dir = 0`
compile_loops   Compile what is compiled once on a machine: small queries that touch every compiled loop
event_times     Event times in replay
finished_alike  Rows of many queries that are finished in one go: an expression costs little a row, and much a call
key_bounds      What WHERE says of the key of an index, as far as the index can be asked for it
local_catalog   What a query in replay may name
read_batches    Events that are read batch by batch, so that a stream may be longer than memory: all queries are told of
                each
replay          Queries over tables of events, batch by batch, in one process and without Spark: the doors `replay` and
                `Replay`
replay_index    An index in replay: the rows of its query are found by their keys, as of each batch
replay_stages   Queries that run together, in one process: the same slicers and shards as on Spark, batch by batch
shares          Shares of rows that replay takes of each batch, as a job would that is delayed: there is no clock that
                decides it
spill           Where the blocks of a replay lie: in memory, or in a file that is there as long as it runs
"""
