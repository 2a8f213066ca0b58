"""The nodes of plans: aggregates, spaces of panes, operators over changes, and what is sent of them.

aggregate_rules  Which aggregates there are: what each takes, what it answers, and the kind of partial that it is drawn
                 from
aggregates       Aggregates of a plan: an answer, and the partial that a pane must keep for it
change_plan      One query over changes: the streams that it reads, its plan, what is sent of it, and at which instants
changes          Plans over changes: answers that change with every arrival and every expiry
clusters         What a pane keeps for CLUSTER BY, and what can be asked of a cluster
distributed      Streams of which the user says to which shards each event goes: a copy for each, with the number of its
                 shard
each_grouping    GROUPING SETS over changes: rows that come and go, once for every grouping
emission         What is sent of a window's answer: all of it, what differs from the window before, or what late events
                 correct
groupings        GROUPING SETS: the key by which groups of one grouping are told from those of another
input_triggered  Which plans go by what comes to them, and not by the clock
joined_rows      Rows of a stream joined with tables: what is read of the events before, and what is evaluated
                 afterwards
joins            Joins over changes: of two streams, of a stream with a table that does not change
kept             What panes keep of their rows: partials, or the values that partials are made of
ordering         In which order the rows of an answer stand, and which numbers they have in it
over_calls       What OVER makes of the rows beside a row: functions of the rows of a window, and the frames that they
                 are of
query_plan       One query as it runs: frozen, so that equal plans are equal values, and plain, so that it travels to
                 workers
regrouped        Where rows of a plan over changes go to other shards: below it runs in one stage, above it in the next
result_columns   The columns of answers and of results, for each kind of window
row_panes        Panes on the axis of row numbers: what all queries share that count the same rows, whatever their
                 windows
run_names        Names for what runs in one Spark query: the streams that it reads, and in how many stages
seen_partial     Presence by granule: what a query of nested levels needs that asks for nothing but which items recur
shed             Load shedding: which rows of a stream are left out, and for how many a row that is taken stands
spaces           What is kept of a stream: panes, or rows, for all queries that count the same rows by the same keys
stage            What a stage runs: windows that are folded over its streams, and pipelines of operators over changes
stream_plan      All that a stage does with one stream: which queries, answered by which spaces, over which expressions
                 of events
wanted           What was asked for by name, of a query or of all that runs over one scan
"""
