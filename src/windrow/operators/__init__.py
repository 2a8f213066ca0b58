"""Operators over changes: rows that come and go in, changes of the answer out.

certain           Which steps of a plan over changes may go on where one of its streams has fallen silent, and what the
                  others hold
changes           Changes in columns: rows that come and go, in order of time
cluster_groups    CLUSTER BY over rows that come and go: the rows of a group's clusters, whenever they change
cluster_points    The points of groups that come and go, and the clusters after each instant
expire            W-Expire, by time probing, negative tuples or the next input: sends a row again, negated, when its
                  time is over
final_join        Joins whose rows come once: pairs as they are made, a row without a partner when none can come any
                  more
first_of_panes    Of the rows that enter and leave windows together, those that can be among the first ones of any
                  window
function_states   The states of a function that remembers, one for each key, in chunks of which only those that changed
                  are written
given_rows        What a function that remembers is told, and the rows that it gives
given_values      Values that a user's class gives, in the types that it has declared: no number is cut, and no text
                  read as one
group             W-Group-By and W-Aggregate: the row of a group, whenever it changes
group_partials    The last partials of all groups of an operator
held_entries      The values of every group that are there, and over which instants of a batch
held_values       Partials that cannot forget: the values of every group are kept, and folded over the instants at which
                  it changes
instants          Changes by group and instant: what a group's aggregates are folded over
interval_fold     Folds of what is there at each of many places, when every entry is there over an interval of places
join              W-Join of two streams of changes: a symmetric hash join; without an equality, all rows of one side
                  with all
join_side         One side of a join: its rows, chained by key
many_steps        A function that is told many events of many keys at once, whose states are columns of numbers
measures          One partial of a group-by: its state in every group, after each instant at which the group changed
merge_fold        Folds of what is there at each of many places by users' merges, in the order of time
net               Net the changes of each instant: what came and went within it is not told
operator          What an operator is: changes in, changes out, and state in blocks
operator_for      Which operator runs which step of a plan over changes, and what it needs beside the step
order             The order of instants: a stable sort of whole numbers, digit by digit
outer_join        Joins that answer for rows without a partner too: LEFT, RIGHT, FULL, SEMI and ANTI
packed            Changes as columns under fixed names, as blocks and payloads have them
pairs             Which rows of two sides have the same key
pending_changes   Changes that wait for an instant: for their time to come, or for it to be over
pipeline          A plan over changes as it runs: arrivals and the clock in, changes of the answers out
ranked            Rows numbered within their partitions, in an order, of which all are told or the first ones:
                  ROW_NUMBER, RANK
regrouped         Between two stages of a plan over changes: out of one as they are, into the next in order of time
repository        The rows of one stream for all windows over it that have no slide, each row kept once
row_table         Distinct rows by slot: each row has a small number, and columns of numbers beside it
row_wise          Operators that look at one row at a time: a `-` is treated as its `+` was
rows_in_blocks    Distinct rows in blocks: memory has a hash of each and the index over them, and reads a row only to
                  compare it
rows_in_memory    Distinct rows in memory: their words in one matrix, found by a hash index over it
running           Running folds: the fold of each run of partials up to each of its elements
scan              The leaf of a plan over changes: events of a stream, once the clock has reached them
sets              W-DISTINCT, W-MINUS, W-INTERSECT and W-UNION: how often each row is there, and what follows from it
single            The value of a sub-query that should have one row: NULL where it has more, and counted
single_steps      A function that is told one event after the other: each changes the state of its key, and may give
                  rows
sort_ranks        Values as whole numbers in their order, for sorting by several columns
stamp             The rows that there are at each end of a window, with the window's edges as columns
stepwise          Users' aggregates that can remove: a state for every group, changed row by row
stored_functions  Whether the states of a function that remembers can be stored, as far as that of a new key can tell
stream_function   A function that remembers, as an operator: events in order of time in, the rows that a user's class
                  gives out
sums_in_turn      Counts and sums of groups, change by change: each state goes on from the one before, in one compiled
                  loop
table_join        A join of changes with a table that does not change
taken_back        Rows of a batch that go again within it: what comes later meets them twice, for nothing
told_clusters     The clusters of every group as they were told last
told_in_turn      What groups tell of their turns: `-` the row that stood before, `+` the one that stands now
turns             Changes in order of time as turns of groups: which group changes when, and from which state; nothing
                  is sorted
words             Rows as numbers: equal rows have equal words, with NULL equal to NULL and NaN to NaN
"""
