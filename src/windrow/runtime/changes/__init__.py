"""Pipelines of operators over changes in a shard, and what one stage sends on to the next.

away      Queries over changes that do not run any more: what they held is kept, as in `set_aside`, until it is dropped
sampled   Changes at the slides of a query: netted from one to the next, or as whole answers
send_on   What a stage of queries over changes sends to the shards of the next
shard     One shard of queries over changes: rows and clocks in, changes of the answers and state out
together  Queries over changes that run as one pipeline: rows up to an instant in, changes of their answers out
"""
