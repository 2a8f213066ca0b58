"""Replay: the same plans and shards in one process, without Spark, with a clock that can be set.

arrivals        The wall clock of a replay: when each batch arrives, and when the clock is looked at although nothing
                does
event_times     Event times in replay
local_catalog   What a query in replay may name
replay          Queries over tables of events, batch by batch, in one process and without Spark: the doors `replay` and
                `Replay`
replay_changes  Queries over changes in one process: joins, set operators, DISTINCT, windows without a slide
replay_stream   All queries over one stream in one process: the shard's work, batch by batch
simulate        A pipeline of operators with queues, a settable clock and settable delays: no thread, no sleep
stages          The stages of a simulated pipeline: one operator each, with a queue for every input
"""
