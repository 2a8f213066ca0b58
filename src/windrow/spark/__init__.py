"""The only room that knows pyspark.

doctor/          What `windrow doctor` finds out: what executors are like, and whether a job would run on them
job/             A running job: start, watch, restart, add, drop, progress, and what it keeps in its checkpoint
sinks/           What becomes of a batch's rows: files that tasks stage, answers, tables of databases, views
sources/         Where rows come from: files and their columns, any streaming DataFrame, heartbeats
stages/          The steps of a batch: slice, premerge, regroup, slide
workers/         Spark's Python workers, warm: one process loads what they need while the JVM starts, and is forked for
                 each
answer_settings  Settings of Spark's under which its functions give other answers than ours
broker_patience  How long a broker that does not answer is waited for: a first start is told at once, one that goes on
                 waits
connect          Spark Connect: a session whose Spark is a server elsewhere, and what is asked otherwise there
early_jvm        The JVM comes up while this process loads what it needs: each takes seconds, and neither needs the
                 other
expressions      Row expressions as Spark evaluates them, with NULL for what fails
fs_settings      Spark's own settings of file systems: addresses of stores and credentials, for places that are
                 elsewhere
lambda_types     The types of expressions inside of lambdas: Spark is asked what a function gives that has them for its
                 body
launch           A Spark of our own that keeps quiet: what it writes goes to a log, and it ends when we say so
local_files      How Spark writes files on a local disk: without a process for each of them
long_chains      Long chains of + - *, written so that Spark's parser and analyser need not go as deep as the chain is
                 long
on_cluster       What a Spark on a cluster is given where nobody chose otherwise: shards that may move, and JVMs that
                 compile less
output           Where a JVM and its workers write: a log of their own, so that they never write over what a user reads
packages         What Spark itself does not bring: connectors, as jars that were fetched once, or by the names that
                 Maven knows
plain_types      The types, and the time zones, in which rows that tasks have read or written are as those of Spark
quick_jvm        A JVM that is up early: Spark's classes kept in a file as a JVM has them in memory, and less compiling
                 at first
reach_master     Whether a master, or a Spark Connect server, can be reached: found in seconds, before a JVM is started
settings         The Spark settings that Windrow needs: set where it may, refused with the reason where somebody chose
                 otherwise
"""
