"""What papers compare with, and no query can ask for, and servers for tests: kept beside the package, tested with it.

broker        A Kafka of one node on this machine: from Maven's jars, in a JVM of its own, gone with its block
postgres      A PostgreSQL on this machine: Debian's, with its files in a folder, gone with its block
tuple_driven  Slides by the times of events alone
"""
