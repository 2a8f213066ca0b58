"""Blocks: where state lies, in memory, in files and in Spark's state store, under one limit.

block_places  Where the blocks of a file lie: a few numbers for each in tables, since windows on disk have millions of
              blocks
blocks        Where window state lives: numbered blocks in named families
chunks        Columns with one element a slot, stored in chunks of neighbouring slots
columns       Columns to bytes and back: Arrow's stream format, compressed; numbers of state in planes of bytes
expiring      Which rows of a piece have expired
file_blocks   Blocks in a local file, every one of them checked when it is read
kept_blocks   The blocks of one family as values: read when they are asked for, written when they have changed
ordered_rows  Rows in the order of one column, in blocks: added at the end, read from the front by one window or several
plain_rows    Rows of fixed width as bytes: their columns one after the other, and nothing that a schema says already
planes        Numbers as bytes, the first bytes of all of them before the second ones, where that compresses better
rows_codec    Rows of one schema as the bytes of a block: plain where they can be, compressed where that pays
working_set   What a shard keeps in memory of its blocks: the recent and the ancient ones, within a limit
"""
