"""From tokens to statements, one layer of the grammar a file; each class adds its layer to the one before.

TokenParser < ExpressionParser < DurationParser < WindowParser < QueryParser < TypeParser < OptionsParser < IndexParser
< StatementParser

durations             Lengths of time and of rows inside a statement
expressions           Spark's expressions, each with its place in the text
indexes               CREATE INDEX: a window over a stream, the columns of its key, and those that come along
keep_calls            Calls stay what the user wrote
ksql_clauses          Clauses of ksqlDB: `WINDOW TUMBLING (SIZE 1 MINUTE)` behind FROM, and `WITHIN 1 HOUR` in a join
name_clause_words     WINDOW and OFFSET begin a clause in their place and are names everywhere else; SESSION(...) is a
                      call
named_windows         `SUM(x) OVER w ... WINDOW w AS (PARTITION BY k ORDER BY ts)`: each OVER with what its name stands
                      for
options               What CREATE statements share: columns, a format and its options
others_statements     Words of others' CREATE and INSERT statements, and what is written here in their place
queries               Queries: the places where windows, clusterings and modes of emission stand
refuse_windows        Windows that can be written but mean nothing
splits                CREATE STREAM a, b AS SPLIT: several streams of one, by what each takes of it
standard_comparisons  What standard SQL compares and cuts off in words of its own, as what it means: `= ANY (SELECT
                      ...)` is IN, `(a, b) = (1, 2)` compares field by field, and FETCH FIRST n ROWS ONLY is LIMIT n
statements            Whole statements: CREATE, INSERT and queries
stream_functions      Functions that remember, in FROM, as standard SQL and Flink write them: `hits(TABLE positions
                      PARTITION BY k)`
table_functions       Windows as Flink and RisingWave write them: `TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '10'
                      MINUTES)` in FROM
tokens                Words of the text: which one stands here, which one was expected, and what to say when it is
                      another
types                 The types of columns, as Spark writes them
windows               A window in brackets behind a stream's name
"""
