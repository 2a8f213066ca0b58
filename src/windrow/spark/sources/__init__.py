"""Where rows come from: files and their columns, any streaming DataFrame, heartbeats.

absent           Columns that are declared, and that files or all events of a batch lack: NULL there, and counted by
                 column
asked            What slicers read of the events of a stream
database_reason  Why a database does not do what is asked of it: in its own words, which lie below what Spark complains
                 of
delta            Streams that follow a Delta table: Spark notes how far it was read, and what it reads are names of
                 files, or rows
delta_log        The files of a Delta table by its versions: those that it had at first, and those that each version
                 adds
failures         Counting what fails: row expressions that overflow, divide by zero or cannot cast give NULL, and are
                 counted
file_columns     Whether files have the columns that are declared of them: Spark would read NULLs for one that is not
                 there
file_options     What the format and the options of a source of files say by themselves, before Spark is asked
heartbeat        The heartbeat of a stream on Spark: a source with a row for each beat, so that a batch runs though no
                 event comes
history          A stream that begins with its history: which of its two sources is read now, and how many files are
                 left
kafka            Streams from Kafka: Spark's connector reads messages, and they are decoded into the columns that are
                 declared
kafka_broker     Whether a broker answers and has the topics that are asked for: found out before anything starts, by
                 name
kafka_lag        How far behind a topic a batch has left a stream, by partition: from what Spark's progress says of its
                 sources
messages         Messages into columns: JSON, CSV, Avro, text or bytes, by Spark's own functions; one that cannot be
                 read says so
missing_files    Input files that are gone by the time a batch reads them
named_files      Parquet files by name: Spark lists, limits, logs and replays their names, and opens none of them
parquet_files    Reads Parquet files as Spark would: only wanted columns, in their declared types, some row groups at a
                 time
parquet_types    Which columns of Parquet files can be read as which declared types: those that Spark reads, with
                 Spark's values
read             Streams and tables on Spark
reading          What a slice task does with names of files: reads what it needs of its share, and evaluates row
                 expressions
refuted          Row groups that no query needs a row of: their statistics say that every WHERE is false for all of it
registry         The schemas of Avro messages: one that is given, or those that a registry has of a subject, by their
                 numbers
shares           Which task reads which part of which file: every task is told all names, and comes to the same answer
source           A stream on Spark, as a session has registered it
tables           The tables of a session: what they hold, and which of them are read again while a job runs
ways             Which way the rows of files come to the slicers: read by their tasks, or by Spark, and why
"""
