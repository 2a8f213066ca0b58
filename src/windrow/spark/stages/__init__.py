"""The steps of a batch: slice, premerge, regroup, slide.

editions      Tables as they were read, and for which batches: light to load, since it travels with what slides
in_utc        Times as state has them, whatever the time zone of the Spark session
join_first    One more crossing: rows are joined with tables before Spark evaluates expressions over both, where it must
loaded        What a worker has loaded, kept out of the way of its garbage collection
look_up       Tables looked up for answers, behind the shards: Spark's stateful step cannot take what is broadcast
once          What all tasks of a job have in common, unpickled once in a worker rather than with each task
pipeline      What runs on Spark for some stages: sources, slice, shuffle, slide
premerge      More shuffles, for summaries that all belong to one shard: several workers merge them before, in a tree
regroup       A stage that is not the last: what it finds out goes to the shards of the next, in the same batch
same_version  Executors run the Windrow of the driver: another version is refused by name, and so is none
seed          State written into a new checkpoint: Spark's own store writes it, in one batch that reads nothing but this
              state
shards        Shard keys that Spark spreads evenly: one for each shuffle partition
share_note    The share of rows that each batch of a stream takes, as its checkpoint notes it before the batch runs, and
              what batches have cost
ship_tables   Tables on their way to the map tasks: each is sent to a worker once, and hashed there once
slice         The stateless step: row expressions by Spark, or by tasks that read files; panes and partials in the map
              tasks
slide         The stateful step on Spark's state store: payloads in, answered windows out
slide_shard   One batch of a shard on Spark: the shard as its state has it, the payloads, and what it answers as frames
state         Blocks in Spark's state store
"""
