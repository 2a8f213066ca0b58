"""The Python door: a session, on which streams, tables and queries are declared, and which starts a job for them.

plugins  What users bring in Python, by name: aggregates, clusterings and functions that remember
session  `Session`: declare streams, tables and queries in Python, then start one job for all of them
start    Starting a job on a checkpoint: which queries run there, how they differ from those before, and who listens
streams  The streams and tables of a session: rows of Spark's, of files or of Kafka, and when each happened
"""

from windrow.session.session import Session

__all__ = ["Session"]
