"""What becomes of a batch's rows: files that tasks stage, answers, tables of databases, views.

answer_files     The current answer of a query that emits changes, as one file that is replaced whole
answer_table     The current answer of a query that emits changes, in a table of a database
changed_results  Changes as their reader sees them: `-` what was, `+` what is, where the two differ
covered          Whose rows tasks can finish: those of queries for which our own expressions give what Spark's would
deliver          A batch's results to their sinks: one Spark job for all that tasks write, and one each for the others
files            Files that hold each row exactly once, for a plain reader of the folder
outlets          What tasks do with the rows of a batch by themselves: finish them, and write them to files or send them
                 on
packed           Packed rows, as slide emits them: the name of a query, and the bytes of some of its rows
rejected         Events that no window took, as rows
results          Packed results into typed rows, and what is left to do with them: HAVING, the select list, ORDER BY and
                 LIMIT
table_names      Names of tables as a database reads them: what a user calls a table is never read as SQL
writers          What becomes of a batch's results
"""
