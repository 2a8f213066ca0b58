"""The steps of a batch: slice, premerge, regroup, slide.

loaded         What a worker has loaded, kept out of the way of its garbage collection
pipeline       The pipeline of one stream on Spark: source, slice, shuffle, slide
premerge       One more shuffle, for summaries that all belong to one shard: several workers merge them before
regroup        A stage of queries over changes that is not the last: its changes go to the shards of the next, in the
               same batch
shards         Shard keys that Spark spreads evenly: one for each shuffle partition
slice          The stateless step: row expressions by Spark, or by tasks that read files; panes and partials in the map
               tasks
slice_changes  The stateless step of queries over changes: row expressions by Spark, rows to the shards of their keys
slide          The stateful step on Spark's state store: payloads in, answered windows out
slide_shard    One batch of a shard on Spark: the shard as its state has it, the payloads, and what it answers as frames
state          Blocks in Spark's state store
"""
