"""Panes, and the maintenances that fold them into windows: refold, running, tree, stairs, and those over contexts.

aging                Aggregates that weigh what is older less: a weight for each level of nested windows
binary_merge         Sliding binary merge: a lattice of windows whose lengths are powers of two
context_maintenance  What all maintenances over contexts share: time ruled into cells, and a context for each window
                     that is asked for
contexts             Contexts: summaries that are valid for an interval, shared by all who hold them
daba                 DABA: windows that add at one end and forget at the other, with a few merges in every slide
entries              Partials by pane and group, in columns
exclude              Exclude: for summaries that can forget, what leaves a window is taken out of it
granules             A queue of granules: partials of neighbouring stretches of time, each held once, in blocks by when
                     they came
held                 Windows that are kept folded in memory, and nowhere else
log                  The panes of a shard, in order of time, in blocks
maintenance          How panes are folded into windows: one small interface, several ways
nested_fold          Nested windows over the panes of a log, read from one chain in memory
progressive          Progressive aggregates: each level is what it holds alone, and the level below, which has just slid
queue_fold           The running fold of a queue of granules: what enters is added, what leaves is taken out, nothing is
                     scanned
ranges               Many windows over one run of partials, or of entries, folded at once
recurring            Items that come again and again: seen in every level's own stretch of time
refold               Fold every pane again at every slide: the definition, and the cheapest way for windows of few panes
repetitive_merge     Repetitive merge: every pane is merged into every window that it is part of
running              Windows that are kept folded, and changed by what enters and leaves
seen_fold            In which levels' own stretches items were seen, by bitmaps: a bit an item and granule
seen_items           Counts by pane and group as bitmaps: a bit for each group and pane says whether it was seen there
settle               Windows that only grow, and that are told again while late events still come for them
stacked_spans        Two stacks in blocks: windows that add at one end and forget at the other, for kernels that cannot
                     take back
stairs               Nested windows kept in one chain, in which everything is held once
stored_contexts      Contexts in blocks: what is new is appended, what is mostly freed is written again
tree                 A binary tree over panes, for kernels that cannot forget, such as those of MAX and MIN
two_stacks           Two stacks: windows that add at one end and forget at the other
"""
