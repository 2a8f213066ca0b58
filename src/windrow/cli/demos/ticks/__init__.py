"""Stock ticks: answers as they come, and a comparison with Spark's own windows.

answers  The demo's answers, read back from the folders that its queries write to
check    The last answers over ticks beside the same computed by pyarrow
demo     The demo of ticks: a market of 100 stocks, and 24 queries, most of them answered every second
market   The demo's market: 100 stocks, each of a sector, and their ticks, made up as time goes by
screen   What the demo shows: prices with their traces, who moves, the market, alerts, and how the job is doing
"""
