"""Windows over time: panes, how they are folded, and whose turn it is.

belated           Entries that came when some window that holds them had been answered, and others had not
corrected         Windows that have been answered and that late events change: what was told, and what holds instead
corrected_totals  Windows without bound that have been answered and that late events change: what was told, and what
                  holds instead
due_windows       The windows of a space that have ended: found by the schedule, folded, and given out in order of their
                  ends
first_window      From which window each query is answered: the first of which its space knows all, also where it came
                  later
fold              One window of a space: which of its answers are due, and what they are
folds             The maintenances of a space, each over the kernels that it was chosen for
history           What a space holds of the past: since when each partial is kept, and how time was cut
kept_partials     Where the partials of a space are found among those that its panes keep
kept_ways         Where panes hold what windows ask for: in rows or in partials, and after a change of mind in both
open_folds        All that a space has folded: opened from its snapshots, and forgotten where panes have changed under
                  it
shared_folds      Maintenances that several windows of a space read: one tree, and lattices and chains of windows that
                  fit together
space             One space of a shard: payloads in, answered windows out
state_at          Any horizon of a query with levels, whenever it is asked for, from the panes that its windows are made
                  of
turns             Whose turn it is: which windows of a space have ended since the last batch
view              What one maintenance sees of the panes of a space
"""
