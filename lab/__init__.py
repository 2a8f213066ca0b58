"""What papers compare with, and no query can ask for, and servers for tests: kept beside the package, tested with it.

broker            A Kafka of one node on this machine: from Maven's jars, in a JVM of its own, gone with its block
expiring_tree     The baseline of window indexes: one tree on time and key, from which entries are deleted one by one
postgres          A PostgreSQL on this machine: Debian's, with its files in a folder, gone with its block
simulate          A pipeline of operators with queues, a settable clock and settable delays: no thread, no sleep
simulated_stages  The stages of a simulated pipeline: one operator each, with a queue for every input
tuple_driven      Slides by the times of events alone
"""
