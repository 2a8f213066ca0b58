"""Spark's Python workers, warm: one process loads what they need while the JVM starts, and is forked for each.

daemon     A daemon of Spark's workers that loads before it forks, for `spark.python.daemon.module`, as on a cluster's
           machines
installed  Spark's Python as it is installed, in place of the archive that Spark puts before it on the path
load       All that a worker needs, loaded before workers are forked: each then starts at once, and they share its
           memory
python     Python as Spark starts it: run by its path, it has the warm process be what Spark asks for, or runs Python
           itself
warm       The warm process: it loads what workers need while the JVM starts, and forks for what Spark asks of Python
"""
