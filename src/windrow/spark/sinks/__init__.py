"""What becomes of a batch's rows: files that tasks stage, answers, tables of databases, views.

answer_files       The current answer of a query that emits changes, as one file that is replaced whole
answer_lake        The current answer of a query that emits changes, as a table of a lake whose files are replaced in
                   one commit
answer_table       The current answer of a query that emits changes, in a table of a database
append_table       Rows that are appended to a table of a database, each once: the batch is noted in the same
                   transaction
avro_messages      Rows as Avro messages: records of a schema that is given, or of the newest that a registry has of a
                   subject
blame              Whose rows could not be finished or written: the name goes with the error, so that other queries need
                   not end too
changed_results    Changes as their reader sees them: `-` what was, `+` what is, where the two differ
compact            Small files of a sink's folder merged into larger ones, while jobs write beside them and readers read
costs              What queries and sinks cost: the time that tasks tell of, and that of the driver where it writes by
                   itself
covered            Whose rows tasks can finish: those of queries for which our own expressions give what Spark's would
csv_text           Rows as lines of CSV, byte for byte as Spark writes them
database_table     What sinks that are tables of a database share: tables made by Spark, and statements in one
                   transaction
deliver            A batch's results to their sinks: one Spark job for all that tasks write, and one each for the others
delta_merge        Changes of an answer merged by key into a Delta table
delta_storage      How `deltalake` reaches a table: by a path of this machine, or in a bucket with the credentials that
                   Spark has
delta_table        A Delta table that batches are committed to: by `deltalake`, each with an application transaction
explain_sinks      How the rows of each sink get there, in a line: with the batch's own Spark job, or by one more, and
                   why
file_format        The formats, options and types of files that tasks write as Spark does, and why others are left to
                   Spark
files              Result files, moved into place when their batch is committed: a plain reader of the folder sees each
                   row once
forgotten          Rows that wait in the checkpoint for sinks that roll no more, or are gone: they are shown before the
                   job goes on
iceberg_merge      Changes of an answer merged by key into an Iceberg table
iceberg_storage    How `pyiceberg` reaches a table: by a path of this machine, or in a bucket with the credentials that
                   Spark has
iceberg_table      An Iceberg table that batches are committed to: by `pyiceberg`, each noted in the same commit
index_files        An index as a sink: tasks write sorted runs, and a manifest that the driver replaces whole says which
                   are valid
keep_answers       Current answers on their way from a batch to the driver, beside what goes to the sinks of their
                   queries
lake               Tables of lakes: tasks write Parquet files, and the driver commits those of a batch to the table,
                   once
lake_tables        The table that a sink of a lake names, and where its files go
merge_files        Files of one format as one file: rows of Parquet, or lines of text
merged_lake        The current answer of a query that emits changes, as a table of a lake into which the changes are
                   merged by key
net_changes        What a batch of changes does to an answer whose rows a key tells apart: keys whose row goes, and rows
                   that come
outlets            What tasks do with the rows of a batch by themselves: finish them, and write them to files or send
                   them on
packed             Packed rows, as slide emits them: the name of a query, and the bytes of some of its rows
partition_folders  Folders that are named by values, as in day=2026-11-16, by the rules of Spark and Hive
ranked_results     OVER the rows of each window, where Spark finishes them: numbers by its own functions, what else is
                   drawn as ours
rejected           Events that no window took, as rows
results            Packed results into typed rows, and what is left to do with them
rolling            Files that gather the batches of a while: their rows wait in the checkpoint, and are shown together
rolling_lake       Tables of lakes that get the batches of a while in one commit: their rows wait in the checkpoint
                   until then
shared_index       An index whose events are all in a wider one of the same key: it is published by a word that says so
staged_files       Files that tasks write where no reader looks, under names that no other attempt of a task has
table_names        Names of tables as a database reads them: what a user calls a table is never read as SQL
topic              Rows into a topic of Kafka, each once for whoever reads what is committed: one transaction a batch
topic_broker       The broker of a topic that rows go to, asked before anything starts: what is wrong is told by name
topic_keys         Which keys a topic of upserts has a row for: an answer that begins anew takes them away
topic_messages     Rows as messages of a topic: a key, bytes and headers each; an answer as upserts and tombstones
value_texts        Values as the files of Spark have them as text: numbers and booleans as Java writes them
writers            What becomes of a batch's results
"""
