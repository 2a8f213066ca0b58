"""Who slides now.

A schedule is given queries, each with a slide, and says which of them are due at each instant. `schedule_for` in
`choose` picks the fastest for a set of slides.

batch_costs     What the batches of a stream cost: a fixed part, and parts by the rows that are read and those that are
                taken
calendar        A calendar: each group stands at the instant at which it is due next, and only those that are due are
                touched
checks          Checks of every query, or of every group, at every instant: the definition, and what the others are
                measured by
choose          Which schedule is the fastest for a set of slides
clocked         What all schedules share: their queries, their clock, and the answers found ahead of it
clocks          The time of a remote source, as far as its events tell it
costs           What each schedule costs for a set of slides: known without one being made, and without a compiled loop
dates           The wheel and the heap of a calendar, in columns, and the compiled steps on them
graph           The sliding graph: which slides need no test when another one has failed its own
graph_walk      The sliding graph as a schedule
heartbeat       When a stream must be looked at although no event comes
limits          Which slides, instants and numbers of queries a schedule takes
members         The columns in which groups and their queries lie, and the compiled steps on them
optimize_graph  Add dummy nodes to a sliding graph where they save more tests than they cost
progression     The instants at which a slide is due, as a set
schedule        Who slides now: one small interface, several ways
shares          Which share of a stream's rows the next batch takes, by how far the last one was behind and what halving
                gains
slide_groups    Queries with equal slides, kept together: what is due for one of them is due for all
table           A hash table that finds numbers by their keys, where the keys lie in columns: compiled, and 4 bytes a
                slot
tree            The strong edges of a sliding graph in columns
walk_tree       The walk over the strong edges of a sliding graph: who is due, and how many slides are tested for it
"""
