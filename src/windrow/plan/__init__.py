"""What is asked and what runs, as frozen, plain data: no clock, no file, no engine.

bind/              From syntax to bound queries: names resolved, types known, what cannot run refused where it stands
nodes/             The nodes of plans: aggregates, spaces of panes, operators over changes, and what is sent of them
windows/           Windows as values: where each begins and ends, over time and over rows
aggregate_plugin   What a user's aggregate is: what it must have, what it may have, and what a class says that it can do
ahead              How far ahead of its batch an event may be, as users say it
catalog            What a query may name: streams, tables, clusterings, and the aggregates and functions that users have
                   registered
change_names       The names of state over changes, declared as those in `state_names`: a text for each step of a plan
database_driver    The driver of a database: Java finds one by itself among the classes it began with, not among Spark's
                   jars
expiry             How rows of joins, set operators and windows without a slide expire: the four ways, as users say them
history            Files that have the events of a stream before an instant: they are read first, and then the stream
                   itself
idle_clock         An idle clock: how it learns the delay of events, and how often it is looked at while none come
instants           The instants that an event may have and that an answer can show: those of the years 1 to 9999
kafka_options      What is said of a topic that is read: a few names of ours, the connector's and the client's own, in
                   Spark's words
known_options      The options of the formats that are known well enough to tell a misspelt one
memory             How much memory a shard may use: a size as people write it
name_parts         What names of state are made of: types, names that people gave, lengths of time and literals, as
                   declared texts
query_parts        A query in parts that people can compare: its window, which rows it counts by what, and what it makes
                   of them
refresh            How often a table is read again while a job runs
sink               Where results go
state_names        The names that state has in a checkpoint: declared here, word for word, and never how a class happens
                   to print
stream_function    What a function that remembers is: what its class must have, what it may have, and what it says of
                   itself
stream_statistics  What a stream is like, as it was measured: the stream statistics directory of Salehi et al. 2010,
                   Figure 2
timed_by           When the events of a stream happened, how late they may come, which are duplicates, how long answers
                   change
timing             How the events of a stream are timed, and what moves its clock on
topic_options      What is said of a topic that results go to: a few names of ours, and the producer's own, checked
user_aggregates    What a user's aggregate must be, before any query names it
window_index       A window index as a query: the rows of a stream as its clock passes them, to be found by their keys
window_names       Windows as names of state have them, each kind by its numbers: declared as those in `state_names`
"""
