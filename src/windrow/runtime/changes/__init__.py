"""Pipelines of operators over changes in a shard, and what one stage sends on to the next.

away          Queries over changes that do not run any more: what they held is kept, as in `set_aside`, until it is
              dropped
beginnings    Answers of EMIT WHEN: the row of a group when its condition begins to hold, and again only after it did
              not
coming        Which queries over changes run as one pipeline when they come, and which that were there cannot go on
pipelines     The pipelines over changes of one shard: rows and clocks in, changes of the answers and state out
sampled       Changes at the slides of a query: netted from one to the next, or as whole answers
send_on       What a stage sends to the shards of the next
table_answer  The answer of a query over tables alone: its plan runs once, over all of their rows at one instant
together      Queries over changes that run as one pipeline: rows up to an instant in, changes of their answers out
"""
