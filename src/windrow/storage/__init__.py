"""Blocks: where state lies, in memory, in files and in Spark's state store, under one limit.

blocks         Where window state lives: numbered blocks in named families
chunks         Columns with one element a slot, stored in chunks of neighbouring slots
columns        Columns to bytes and back: Arrow's stream format, compressed
expiring       Which rows of a piece have expired
file_blocks    Blocks in a local file, every one of them checked when it is read
kept_blocks    The blocks of one family as values: read when they are asked for, written when they have changed
ordered_rows   Rows in the order of one column, in blocks: added at the end, read from the front by one window or
               several
plain_rows     Rows of fixed width as bytes: their columns one after the other, and nothing that a schema says already
pool           A buffer pool: some blocks of rows in memory, the others where blocks are kept
row_block      A block of rows: columns of one schema, filled at its end, read from any row on
rows_codec     Rows of one schema as the bytes of a block: plain where they can be, compressed where that pays
shared_slidem  The rows of one stream for all windows over it, each block kept once
slidem         The rows of one window, most of them outside memory
victims        Which block leaves a full pool: by distance, or, to compare with, by when it was last used
working_set    What a shard keeps in memory of its blocks: the recent and the ancient ones, within a limit
"""
