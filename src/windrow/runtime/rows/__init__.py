"""Windows over rows: of the whole stream, of each key, from condition to condition, and sessions.

arriving_rows    Rows that come to a shard: the times of all, then those that are of its own groups
due_in_panes     The windows over shared panes of rows that are due: found by the schedule, folded one by one or many at
                 once
fold_rows        Windows over rows, folded one after the other or many at once
key_counts       How many rows each key has had, and when the first and the last of them happened
key_numbers      A few numbers of each key, by slot
key_running      Windows by key of users' aggregates that can remove: each goes on from the one before, also from batch
                 to batch
key_runs         Rows of many keys side by side, and folds over them
key_sums         Windows without bound by key: what all rows of a group have come to
key_tree         Windows by key of users' aggregates that can merge, and of clusterings: each is made of nodes of a
                 tree, which are built once
key_windows      Which windows are due of which keys
keyed_rows       The rows that windows by key still need, in blocks in the order of their arrival
keyed_space      What spaces have in common whose shards hold all rows of their keys
numbered_rows    Rows of a stream that are numbered, and what a shard keeps of them, whatever windows count them
open_sessions    Sessions that have not ended: what each group of each of them has come to
open_windows     Which keys have a window open, since when, and how rows open and close them
partition_space  One space of windows that count the rows of each key: every key is a stream of its own
passed           Windows that were due, also those that hold nothing: who is told changes must know that an answer is
                 empty now
pending_rows     Rows that wait for the clock to pass their time
predicate_rows   Rows that open and close windows, in order of time
predicate_space  One space of windows that open and close at rows with a condition
retold_sessions  Sessions that have been told and that late events change: what was told, and what holds instead
row_order        The order of a stream's rows: each gets its number once all rows before it are known
row_panes        Windows that count the same rows: one numbering and one log of panes for all of them
row_space        One space of windows that count a stream's rows: rows are numbered, and panes lie on the axis of their
                 numbers
row_times        When the rows happened that windows begin with
row_windows      Which windows over rows are due
rows_apart       State of windows that count rows as it was before they shared panes
session_numbers  Which rows, or pieces of sessions, are of one session
session_space    One space of session windows: rows that follow each other closely; what closes a gap merges two
                 sessions
"""
