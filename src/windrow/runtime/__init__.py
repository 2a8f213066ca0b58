"""One shard's work: payloads and state in, results and state out.

answers/       What queries are told: rows, differences, clusters with their numbers, and what is made of them
changes/       Pipelines of operators over changes in a shard, and what one stage sends on to the next
rows/          Windows over rows: of the whole stream, of each key, from condition to condition, and sessions
slice/         Events to payloads: what a map task does, before anything is shuffled
time/          Windows over time: panes, how they are folded, and whose turn it is
contracts      What a shard, a space of state and a slicer are: every part of the runtime is used through one of these
feed           Answers as events: windows over the answers of other windows
group_slots    The groups of a space: which slot each has, and when it may go
keys           Group keys as columns: equal keys get equal codes, whatever their number and types
late           Which events are late, to be counted and rejected; each space leaves out of its windows what is late for
               them
number_hash    CRC-32 of the decimal texts of whole numbers, as of texts that were written out first
outcome        What a batch gave
payload        What travels from the map tasks to the shards
premerge       Summaries of a batch merged on their way, so that no shard gets those of all map tasks
reject         Events that no window takes: shipped as they came, since only a shard knows the clock and who is late
set_aside      State that the running queries do not know: kept as it is, unread, until it is asked for again or dropped
shard          One shard's work: payloads and state in, results and state out
share          Which groups are of one shard, where state is cut into several
split          What of a shard's state cannot be split: nothing in it tells to which of several shards a row belongs
states         The state of a space, by the kind of its windows
stream_state   One stream in a shard: its clock, and the windows that are folded over it
unknown_state  What a snapshot tells of state that the queries of its job do not know
wall_clock     What the wall clock, which heartbeats carry, says about a stream's clock
weigh          How many events a batch brought to a shard, and which groups had most of them: where keys are uneven, it
               is seen
"""
