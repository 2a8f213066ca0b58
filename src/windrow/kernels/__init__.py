"""Aggregates as mergeable partials over columns: numpy, numba, pyarrow.

bit_fold        BIT_AND, BIT_OR and BIT_XOR
bits            Values of at most 64 bits as int64: their bits, and keys that sort as the values do
choose          Which kernel keeps which partial
collected       COLLECT_LIST, STRING_AGG and MAP_AGG: the values of a window, in the order of their events
columns         Arrow columns as numpy sees them: no copy where none is needed, and NULLs told apart by their slot code
count           COUNT: of rows, or of values that are not NULL
counted_values  COUNT(DISTINCT) and MODE of values wider than 64 bits: texts, bytes, decimals
decayed_mean    EWMA: a mean in which an event counts half as much with every half-life that has passed since
decimal_sum     SUM and AVG of decimals, exact
edge_value      FIRST and LAST by event time
extreme         MIN and MAX of numbers, dates and times
extreme_object  MIN and MAX of texts, bytes and decimals
filled_moments  Regression over a value at every instant: several at one are averaged, missing ones filled with the last
float_sum       SUM, AVG and GEOMETRIC_MEAN of floats that can be taken back
footprint       How much memory partials take, those included that are objects
frequent_items  APPROX_TOP_K: the most frequent values, from a bounded number of counters
high_moments    SKEWNESS and KURTOSIS
histogram       HISTOGRAM_NUMERIC: about how the values lie, in a given number of bins of any width
integer_sum     SUM and AVG of integers, exact beyond 64 bits
kernel          What a kernel is: an aggregate as a monoid over columns, one slot per group
listed          STRING_AGG and MAP_AGG: a text or a map of the values that COLLECT_LIST would list
moments         Variance and standard deviation
ordered_values  MEDIAN, QUANTILE, MAD, MODE and COUNT(DISTINCT), exact, over windows that slide
pair_moments    Regression, correlation and covariance: what two columns have in common
partials        Partials as plain columns: make, grow, clear, pick and join them, whatever the kernel
picked_value    The value that a partial holds of one event that it has picked: as bits where it fits 64, else as an
                object
pickled         States as pickles: for who has asked for it by name, since to read a pickle is to run what its writer
                wished
plain_parts     Times, decimals and arrays as the plainer values that they are made of
plain_values    Plain values as bytes and back: what states and payloads hold, without running any code when they are
                read
rounding        How far answers may lie apart and still be the same but for rounding
seen            Whether a group was seen at all: a bit in blocks
sketches        APPROX_COUNT_DISTINCT and APPROX_QUANTILE: sketches of a fixed size, by Apache DataSketches
spilled_counts  COUNT(DISTINCT) and MODE of texts, bytes and decimals that do not fit into memory together
spilled_lists   COLLECT_LIST, STRING_AGG and MAP_AGG of windows larger than memory: rows stay in panes until they are
                told
spilled_values  Order statistics of values that do not fit into memory together: drawn from the sorted runs of panes
spilled_window  The values of a window that do not fit into memory together: read from its panes, some groups at a time
state_codec     The states of users' code in blocks and payloads: as plain values, by their own `dump` and `load`, or as
                pickles
stored          Partials on their way into blocks and back: a column that says nothing is left out
top_values      TOPK: the largest values, in order
truth           BOOL_AND and BOOL_OR that can be taken back
two_doubles     Numbers as unevaluated pairs of doubles, high + low, of about 106 bits: columns of them at once
user            Aggregates that users write: plain classes with `init`, `add`, `finish`, and perhaps `merge` and
                `remove`
user_rows       Users' aggregates that cannot merge, or can take rows out again: their rows are kept
value_by        MIN_BY and MAX_BY: a value of the event in which another one is smallest or largest
value_chunks    Chunks of sorted keys with their counts, changed in place by compiled loops
value_codec     Values with their counts as Arrow, for blocks and payloads
value_index     The values of a large window in order, changed in place
value_ranks     What is asked of chunks of sorted keys: ranks, the most frequent, distances from the middle
value_runs      Values and how often each occurs, in order: sorted, counted, merged and taken apart
value_versions  A large set of values that looks as if it were copied at every change
"""

from windrow.kernels.choose import kernel_for
from windrow.kernels.kernel import Field, Fields, Kernel, Lowered, Rows
from windrow.kernels.partials import concat, doubled, grow, identity, reset, take, take_in_order
from windrow.kernels.stored import from_arrow, to_arrow

__all__ = [
    "Field",
    "Fields",
    "Kernel",
    "Lowered",
    "Rows",
    "concat",
    "doubled",
    "from_arrow",
    "grow",
    "identity",
    "kernel_for",
    "reset",
    "take",
    "take_in_order",
    "to_arrow",
]
