"""From syntax to bound queries: names resolved, types known, what cannot run refused where it stands.

aggregate              SELECT with aggregates: what is grouped by, what is folded, and what is made of both afterwards
bind                   The one door to binding: names resolved, types known, and what cannot run refused
bound                  What binding makes of a query: names resolved, types known, keys and aggregates told apart
calls                  Calls of aggregates in a query's text: by which names they are known, and where they stand
change_clusters        CLUSTER BY over rows that come and go: windows without a slide, joins, set operators
change_groups          The select list of a query over changes, with GROUP BY, HAVING and DISTINCT
change_sources         What FROM names in a query over changes, and its columns: streams through windows, tables, sub-
                       queries
changes                Joins, set operators, DISTINCT and windows without a slide: from syntax to a plan over changes
check_from             What FROM and WHERE of a query over changes may say: kinds of joins, names, conditions
clusters               CLUSTER BY: what is clustered, by which algorithm, and what is asked of each cluster
column_aliases         `AS t(a, b)` behind a source, or `WITH t(a, b) AS (...)`: other names for its columns, in their
                       order
common_slide           At which instants a query over several windows is answered
constant_arguments     The arguments of aggregates that take a constant beside what they are asked of: a number, a text,
                       a duration
contradictions         Conditions that no row can meet: `x > 5 AND x < 3`
corrected              CORRECT FOR: which queries can be answered again for late events, and why others cannot
distribution           DISTRIBUTE BY: to which shards the events of a stream go, for functions that remember and indexes
edges                  `window_start` and `window_end` as columns of what FROM names in a query over changes
emitted                What is sent of a query over changes, beside which of them: at which pace, when a condition
                       begins, of nothing
final                  EMIT FINAL: each row once, when nothing that comes later can change it
first_ones             `WHERE rn <= 3` around a ranking: only the first rows are numbered, and a number that nobody
                       reads is left out
first_rows             ORDER BY ... LIMIT of rows that come and go: which of them are the first ones
from_clause            FROM: which stream, through which window
groupings              GROUP BY as it is written: GROUPING SETS, CUBE and ROLLUP as sets of expressions, ALL as the
                       select list
interval_conditions    Conditions on how far apart the instants of two rows may be: `a.ts BETWEEN b.ts - INTERVAL 5
                       MINUTES AND b.ts`
is_table               Whether FROM or JOIN names a table, or a sub-query over tables alone, rather than a stream or a
                       query of one
join_keys              What the two sides of a join are compared by: columns, computed where they are none yet, of the
                       same types
join_tables            A stream joined with tables stays a stream: its rows have more columns, and there may be more or
                       fewer of them
joined_queries         A sub-query as one more source of a join: what it shares with the query around becomes a
                       condition of the join
joins                  JOIN, commas and WHERE: which conditions join, which restrict a stream, and which are left for
                       afterwards
ksql_words             What ksqlDB writes: `WINDOW TUMBLING (SIZE 1 MINUTE)` is the window of the stream, `WITHIN 1
                       HOUR` a condition
lambda_variables       Variables of lambdas that would catch a column of the same name are called something else
level_filters          FILTER (WHERE level <= 1): an aggregate of what one level holds, beside those of a coarser one
lift                   Expressions beside aggregates, over the columns that slide emits: each aggregate and each key
                       becomes its column
lower_columns          Expressions over the sources of a SELECT, as expressions over columns of a plan
names                  Names in expressions: each column replaced by what it stands for, at its old place in the text
natural_bounds         What a value can be whatever the events are: the number of a row is 1 or more, a level is one
                       that there is
order                  ORDER BY and LIMIT
others_edges           How other engines name the edges of a window: `window.start`, TUMBLE_START(ts, INTERVAL '1'
                       MINUTE), window_time
others_functions       Functions that other engines have and Spark has not: refused by name, with what to write instead;
                       and COLLECT_SET
others_windows         Windows in others' words: Spark's `GROUP BY window(ts, '10 minutes')`, Flink's `GROUP BY
                       TUMBLE(ts, ...)`
over                   OVER partitions of rows, after groups and before the select list: rankings, and what else rows
                       have beside them
over_calls             OVER of other functions than rankings, of the rows of a window: the call, its frame, and what
                       type it makes
over_changes           Which engine answers a query: windows folded from panes, or operators over changes
paced                  EMIT LAST EVERY over windows with a slide: the answers that are told are those of every so many
                       slides
plain_select           Sub-queries that only compute columns and filter rows: the stream below them is read in their
                       place
possible_values        What conditions leave of a column: NULL or not, the numbers and texts that it may be, and between
                       which
project_rows           SELECT without aggregates over the rows of a stream: other columns of the same rows, or fewer of
                       them
qualified              Names of columns where FROM has several: a stream and the tables that it is joined with
quantile_arguments     The arguments of QUANTILE and APPROX_QUANTILE: what is asked of, and which share of it lies below
                       the answer
query                  From syntax to a bound query
rankings               OVER, QUALIFY and DISTINCT of the answers of windows that are folded: what each row gets, and who
                       is kept
refuse                 Clauses that the language has and this version does not run: refused where they stand, never
                       dropped
refuse_time_functions  Functions that do not go with windows of ours, or are another one each time: refused where they
                       stand
resolve_calls          Calls of aggregates, made into aggregates of the plan: what each is asked of is checked, and the
                       rest refused
row_windows            Windows over rows: what is counted, by which keys, and from which row to which
shed                   SHED ABOVE: which queries can be answered from a share of the rows, how, and why others cannot
sides_of_conditions    A condition as those that hold together, or as those of which one holds; NOT is brought down to
                       what it negates
source_names           Which source of a SELECT a name means: columns, edges of windows, and what * stands for
stream_first           A join that begins with a table, written so that it begins with a stream
stream_functions       Functions that remember: from a call in FROM to a step of a plan over changes
sub_queries            Sub-queries outside FROM, written as joins: IN and EXISTS as SEMI and ANTI joins, a value as a
                       LEFT JOIN
table_queries          Queries over tables alone, in FROM or outside of it: what they answer is a table, made when the
                       tables are read
time_of_source         Which columns of what FROM names hold the time of its events: a window in others' words must be
                       over one of them
told_columns           WHERE over `window_end`, `level` and the like, of windows that are folded: a condition on whole
                       windows
typing                 Types of row expressions, asked of the engine, with the smallest wrong piece underlined
using_columns          The columns of USING in a RIGHT or FULL JOIN: the value of the side that has a row
waits                  How long rows of a join have to wait for others, and what would keep rows for ever
widen                  Numbers of different types meet as the wider one, in joins and set operators
window_rows            SELECT without aggregates over windows that are folded: the rows that each window holds, as its
                       answer
within_window          A plan whose streams are the answers of one window: rows meet, are grouped and are compared
                       within each window
wrong_texts            Texts that are compared with a number or an instant and are none: Spark reads NULL, so that
                       nothing is true
"""
