"""Stock ticks: answers as they come, and a comparison with Spark's own windows.

answers  The demo's answers, read back from the folders that its queries write to
check    The last answers over ticks beside the same computed by pyarrow
demo     The demo of ticks: a market of 100 stocks, and four queries that are answered every second
market   The demo's market: ticks of 100 stocks, made up as time goes by
screen   What the demo shows: prices with their traces, the movers, the market, and how the job is doing
"""
