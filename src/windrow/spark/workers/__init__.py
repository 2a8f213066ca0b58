"""Spark's Python workers, warm: one process loads what they need while the JVM starts, and is forked for each.

daemon  What Spark starts as its daemon of workers, by `spark.python.daemon.module`: it has the warm process take its
        place
load    All that a worker needs, loaded before workers are forked: each then starts at once, and they share its memory
warm    The warm process: it loads what workers need while the JVM starts, and becomes each daemon that Spark asks for
"""
