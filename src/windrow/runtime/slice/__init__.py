"""Events to payloads: what a map task does, before anything is shuffled.

chunk              A chunk of events, and what several spaces want to know of it, found out once
classes            Rows by which predicates they pass: as many classes as the data shows, never two to the number of
                   predicates
distribution       To which shards events go, as DISTRIBUTE BY says: to one, to several, or to all
entries            Entries: what panes hold of groups, before anything is sent
events             Events of one stream into panes and rows for the shards: what a map task does, before anything is
                   shuffled
expression_column  What the columns of row expressions are called on their way to the slicers
grouping_sets      Entries of one grouping into those of several: GROUPING SETS, CUBE and ROLLUP from one fold of the
                   events
joined_chunks      Chunks of joined rows: joined here, in the map task, or before the engine has evaluated its
                   expressions
lift               Events into entries, one a pane and group; and entries into fewer, for spaces that share them
measure            How many groups there are: counted in the first events of a chunk
places             Which pane and group each event goes to, as one dense number
rows               Events into rows that wait for their numbers: what a map task does for windows that count rows
sample             What a map task sees of its events in passing: widths, different values, none, disorder
scans              Events of one stream as rows for pipelines over changes, each to the shard of its key
sessions           Events into pieces of sessions: what a map task does for windows of rows that follow each other
                   closely
shed               Load shedding: which rows of a chunk are taken, by their hashes
split_chunks       Rows that were joined before the engine evaluated its expressions, told apart from the events that
                   they come from
table_index        Where a table has the rows of a key: hashed once, asked for each chunk of events
table_rows         Events joined with tables, before they are cut into panes: the rows that queries over a joined stream
                   count
"""
