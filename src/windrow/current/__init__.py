"""Current answers, kept in memory as of the last committed batch: bounded, with a short history, and with who waits.

add_up        Changes added up: an answer is a multiset of rows, and `+` and `-` rows come to it and leave it
answer        The answer of a query as of a committed batch, and what a batch has brought
answers       All answers that a job keeps, by query, and those who are told when a batch has brought something
chart         Lines to draw: a number of an answer over the ends of the windows, a line for each of a few groups
html          Tables as HTML, for notebooks: every value is escaped, and long ones are cut
kept          The answer of one query: what a batch brings is put aside, and shown when the batch is committed
limits        How much of a query's answers is kept in memory
shape         What the current answer of a query is, by what the query sends: windows, changes to one answer, or rows
subscription  The updates of a query one by one, as an iterator: who reads too slowly is told so, and holds up nobody
widget        A chart and a table in a notebook that change as batches are committed: `job.watch("vwap")`
"""
