"""What papers compare with, and no query can ask for, and servers for tests: kept beside the package, tested with it.

broker            A Kafka of one node on this machine: from Maven's jars, in a JVM of its own, gone with its block
expiring_tree     The baseline of window indexes: one tree on time and key, from which entries are deleted one by one
pool              A buffer pool: some blocks of rows in memory, the others where blocks are kept
postgres          A PostgreSQL on this machine: Debian's, with its files in a folder, gone with its block
row_block         A block of rows: columns of one schema, filled at its end, read from any row on
shared_slidem     The rows of one stream for all windows over it, each block kept once
simulate          A pipeline of operators with queues, a settable clock and settable delays: no thread, no sleep
simulated_stages  The stages of a simulated pipeline: one operator each, with a queue for every input
slidem            The rows of one window, most of them outside memory
tuple_driven      Slides by the times of events alone
victims           Which block leaves a full pool: by distance, or, to compare with, by when it was last used
"""
