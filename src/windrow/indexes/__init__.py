"""Window indexes: live look-ups and ranges over the events of a sliding window.

asking       What is asked of an index: a whole key, the first columns of one, or a range of the last of these
b_plus_tree  A B+-tree over flat arrays: nodes are rows of a matrix, links are row numbers
choose       Which structures there are, what each is good for, and which is taken where nobody asks for one
csb_tree     A cache-sensitive B+-tree: the children of a node lie side by side, so that one link finds them all
entries      Entries as a window index takes them: instants, words and values, none of which is cut to what an array can
             hold
facts        What there is to know of an index before anything is in it
hash_points  A hash table: for look-ups of whole keys alone
key_steps    The compiled steps that write keys as bytes
keys         Keys of several columns as bytes that sort as the keys do, and as words of their first eight bytes
mapper       Mappers: a function that is applied to every entry of a range while it is walked (Paper I, Listings 1 and
             2)
published    An index as a running job publishes it: runs in a folder, and a manifest that says which of them are valid
ring         A window index: a ring of sub-indexes, one a pane; a pane that expires is dropped as a whole
row_index    An index of rows in one process: a ring of panes, each a structure over words and the rows that they stand
             for
runs         Runs of an index as files: rows of one pane in order of their keys, in blocks, with a fence for each
sorted_runs  Sorted runs with fences: what comes is sorted at once, and runs of like length are merged
structure    What an index of one pane is: words in order, each with a value; one small interface, several ways
trie_leaves  The leaves of a trie, compiled: their entries stand in one arena, in stretches that are used again
trie_nodes   The nodes of a trie, of four sizes that grow into each other, compiled: all of it in flat arrays
trie_steps   What a trie is asked, compiled: to insert, where a leaf that is full bursts into a node, and to find
tries        Tries over the bytes of words: a radix tree whose nodes are as large as they must be, and a burst trie
"""
