"""The tables and figures of the papers that have an experiment: what reproduces each, at which scale, and its shape."""

from __future__ import annotations

from typing import NamedTuple


class Reproduced(NamedTuple):
    """A table or figure of a paper: the benchmark that has it, at which scale, its shape, and where it differs why."""

    paper: str
    item: str
    benchmark: str | None
    scale: str
    shape: str


SLIDE = "Salehi et al. 2010, Knowing When to Slide"
TRIE = "Badiozamany 2016, Paper I"
GAME = "Badiozamany 2016, Paper II"
SHARED = "Badiozamany 2016, Paper III"
G2CS = "Badiozamany 2016, Paper IV"
EXPIRE = "Hammad et al. 2003"
LEVELS = "Patroumpas, Sellis 2010"
DISK = "Mendes et al. 2013"

PAPERS: tuple[Reproduced, ...] = (
    Reproduced(
        SLIDE,
        "Figure 5",
        "schedule",
        "10 to 10,000 slides up to 200, 10,000 instants, 10 sets: the paper's",
        "the graph beats the paper's plain algorithm, here the grouped check, from some tens of queries on, "
        "and not with 10, as there; a calendar, which the paper has not, beats both. CPU of compiled loops, "
        "in microseconds a tuple. Through count queries in one job no schedule is felt: it takes 2 to 17 of "
        "some 300 us with 10,000 queries, since to make a window's rows takes as long as thousands of tests",
    ),
    Reproduced(
        SLIDE,
        "Figure 6",
        "schedule",
        "the same with slides up to 800",
        "as there: the longer the slides and the more the queries, the more the graph gains: 2.3 times at "
        "10,000 queries, where the paper has 3 to 3.7, since it tests a fifth of the slides, but walks over "
        "seven nodes",
    ),
    Reproduced(
        SLIDE,
        "Figure 7",
        "schedule",
        "the same with slides up to 2000",
        "as there: 3.7 times at 10,000 queries, where the paper has 3 to 3.7",
    ),
    Reproduced(
        SLIDE,
        "Figure 8",
        "schedule",
        "slides up to 200, 100,000 instants",
        "comparisons and pushes counted as in the paper. Differs: dummy nodes save up to a fifth of the "
        "comparisons and none from 1,000 queries on, where nearly every number is a slide; a push counts as "
        "11 of them, so that with 10 and 100 queries operations grow (23 to 29, 69 to 72), and the paper's "
        "fall",
    ),
    Reproduced(
        SLIDE,
        "Figure 9",
        "schedule",
        "slides up to 800, 100,000 instants",
        "as there from 100 queries on: operations fall from 84 to 74 with 100 and from 202 to 191 with 1,000;"
        " with 10 they grow, with 10,000 there is no dummy to add. The second "
        "optimization is within 0.04 % of the first, which there is better or equal",
    ),
    Reproduced(
        SLIDE,
        "Tables I and II",
        "clocks",
        "1,000 events where the paper has some 15",
        "in replay, at the heartbeat that a job has: 10 s for both slides",
    ),
    Reproduced(
        SLIDE,
        "Figure 2, load shedder",
        None,
        "",
        "no experiment in the paper; `SHED ABOVE 10 SECONDS DELAY` (docs/shedding.md)",
    ),
    Reproduced(
        SLIDE,
        "Figure 2, statistics directory",
        None,
        "",
        "no experiment in the paper; `job.statistics()`, `windrow status`",
    ),
    Reproduced(
        TRIE,
        "Figures 4 and 5, insertion",
        "index",
        "2 to 16 million keys, of Linear Road and at random",
        "differs: there Judy is the fastest, here sorting a batch beats all structures, and tries are "
        "slowest, since a leaf that grows is copied; the paper inserts key by key, in C",
    ),
    Reproduced(
        TRIE,
        "Figures 6 and 7, look-ups",
        "index",
        "the same",
        "tries beat trees, as there",
    ),
    Reproduced(
        TRIE,
        "Figures 8 to 10, memory",
        "index",
        "the same",
        "CSB+-trees take the most, as there; our radix tree has no bitmap leaves, and does not fall below a "
        "flat array with dense keys, as Judy does",
    ),
    Reproduced(
        TRIE,
        "Figures 11 and 12, ranges",
        "index",
        "the same",
        "trees beat tries, as there; sorted runs, which the paper has not, beat both",
    ),
    Reproduced(
        TRIE,
        "Figure 13, deletion",
        "index",
        "500,000 keys a pane",
        "dropping a pane does not depend on what it holds, deleting its keys does, as there",
    ),
    Reproduced(
        TRIE,
        "Table 1",
        "index",
        "the same",
        "a summary of the figures: see those",
    ),
    Reproduced(
        GAME,
        "Figure 5, performance",
        "soccer",
        "a made-up game of an hour, 15,000 readings a second; `--quick` 180 s",
        "82 times real time in one process, 32 on Spark; Q3 takes longest, as there, and all together what each alone "
        "takes, where the paper has processes for each query. Positions are made up where the paper's are absent",
    ),
    Reproduced(
        GAME,
        "Figure 6, delays",
        "soccer",
        "180 s of such a game, live",
        "0.13 s for hits to 0.29 s for statistics of a second in replay, 1.2 to 1.6 s on Spark, where a batch is "
        "waited for; the paper has those of a pipeline of processes",
    ),
    Reproduced(
        SHARED,
        "Table 1",
        None,
        "",
        "workloads are compared in words: nothing is measured",
    ),
    Reproduced(
        SHARED,
        "sharing, Figures 4 and 5",
        "sharing",
        "144 KPIs, 1,000 windows, 32 clusterings",
        "the paper proposes a system, and measures nothing to compare with: ours is beside jobs of their own",
    ),
    Reproduced(
        G2CS,
        "Table 1",
        "clustering",
        "repetitive and binary merge, each with and without an index, and differences",
        "the alternatives that Figures 6 to 11 compare",
    ),
    Reproduced(
        G2CS,
        "Figure 6, GROUP BY",
        "clustering",
        "20 groups, ratios 10 to 1000",
        "as there: repetitive merge grows with the ratio, binary merge with its logarithm, differences not at"
        " all; a refold in one call, which the paper has not, is below all up to 300",
    ),
    Reproduced(
        G2CS,
        "Figure 7, C-BIRCH over SDC",
        "clustering",
        "25 and 784 clusters, ratios 10 to 300",
        "as there: repetitive merge grows with the ratio, binary merge hardly; 24 times at 150",
    ),
    Reproduced(
        G2CS,
        "Figure 8, index and summarization",
        "clustering",
        "25 to 1,600 clusters",
        "as there: the index pays from some 200 clusters on",
    ),
    Reproduced(
        G2CS,
        "Figure 9, real positions",
        "clustering",
        "12 players, 20 readings a second each, left out where the data is absent; and x, y, z at the paper's "
        "15,000 readings a second, made up",
        "10 to 12 times at 150, where 12.3 is asked for; in space, beside other work, RM-NCI to SBM-CI 3.8, 5.2 and "
        "7.8 times at 50, 100 and 150, and the index pays from some 310 clusters on",
    ),
    Reproduced(
        G2CS,
        "Figure 10, memory",
        "clustering",
        "micro-clusters in all contexts; real positions, and x, y, z at 15,000 readings a second, made up",
        "differs: there binary merge holds more clusters than repetitive merge, since BIRCH's saturate; ours "
        "still grow with the ratio, so that it holds fewer, 0.72 to 0.91, and 0.71 to 0.91 in space: it comes "
        "nearer as windows grow",
    ),
    Reproduced(
        G2CS,
        "Figure 11, work of a slide",
        "clustering",
        "real positions, ratio 150; and x, y, z at 15,000 readings a second, made up",
        "differs: there repetitive merge spends most on copies, which build an index anew; here a copy is one array "
        "and its index is built when it is asked, so that copies are 8 to 25 %, and calls of the framework weigh more",
    ),
    Reproduced(
        G2CS,
        "Figure 12, accuracy",
        "clustering",
        "beside scikit-learn's Birch in place of the authors' own",
        "radii are smaller, as there (1 to 5 %): 13 to 21 % over real positions, with more clusters; in space 21 "
        "% at 5 panes and 5 % at 30",
    ),
    Reproduced(
        EXPIRE,
        "Table 1",
        "expiry",
        "Q1 to Q5, windows of a minute, 1,000 events a second of event time",
        "from SQL, in replay and on Spark, beside DuckDB at some instants",
    ),
    Reproduced(
        EXPIRE,
        "Figure 8, all queries",
        "delays",
        "10 tuples/s, 120 s; on Spark windows of 20 s",
        "input-triggered is 100 to 1,200 times slower than the others in the simulator, as there slowest; "
        "on Spark up to 2.4 times, since each way waits for a batch",
    ),
    Reproduced(
        EXPIRE,
        "Figure 9, rates",
        "delays",
        "5 to 40 tuples/s",
        "input-triggered falls from 1.3 s to 0.35 s, the others stay at a millisecond: they come nearer, as "
        "there, and do not meet; in the simulator",
    ),
    Reproduced(
        EXPIRE,
        "Figure 10, joins",
        "delays",
        "2 to 5 joins, 600 items",
        "as there: input-triggered is worse the deeper the pipeline, and the hybrid beats negative tuples in "
        "the mean, if not in the maximum at five; in the simulator, and in the mean on Spark. With the 100 items of the"
        " others a fourth join makes more pairs than its processor can do",
    ),
    Reproduced(
        EXPIRE,
        "Figure 11, selectivity",
        "delays",
        "0.1 to 1",
        "in the simulator differs at 1, where the paper's ways meet: ours wait 0.05 s for the next tuple, half "
        "of the time between two at 10 tuples/s, and the others a millisecond; in batches they meet nearly, "
        "since the tuple is in the batch that is waited for, or in the next",
    ),
    Reproduced(
        EXPIRE,
        "Figure 12, throughput",
        "expiry",
        "2 to 20 windows, up to 1.2 million rows",
        "differs: there negative tuples grow faster than linearly, since a `-` looks for its row; here a `-` "
        "needs no look-up, and no way does. Hybrid is 1.35 to 1.55 times negative tuples on Q2",
    ),
    Reproduced(
        LEVELS,
        "Figure 5, rates",
        "levels",
        "10,000 to 1,000,000 events an instant, five levels, extent 40; from SQL in replay over the real network "
        "connections, where they are, and below the language",
        "linear, as there; an event is up to 4 times dearer at the lowest rate (from SQL 4 to 9 times, quick form, "
        "loaded machine), since the slides of an instant take their time whatever it brings",
    ),
    Reproduced(
        LEVELS,
        "Figure 6, levels",
        "levels",
        "one to five levels, extent 40; from SQL, and below",
        "nearly constant, as there: 1.1 to 1.3 times the widest alone, from SQL 1.0 to 1.3",
    ),
    Reproduced(
        LEVELS,
        "Figure 7, extent",
        "levels",
        "40 to 40,000 instants; from SQL, and below",
        "constant, as there; from SQL run for 40 and 400 only",
    ),
    Reproduced(
        LEVELS,
        "Figure 8, memory",
        "levels",
        "bytes of the state from SQL, and of partials and bitmaps below",
        "small and sublinear for aggregation and regression, as there; 1.4 of the widest alone with so few "
        "granules, which is arithmetic: 14 of them to 10. On Spark three levels of 100 groups take 0.17 to 0.63 "
        "of the widest and the finest alone (quick form), five 0.14 to 1.15. Recurring: a bit an item and "
        "granule, as there, in a half to a quarter of what counts take, which are kept where they are asked for, too",
    ),
    Reproduced(
        DISK,
        "Figure 10",
        "storage",
        "the 144 KPIs over a whole day at 1,000 events/s, with 2 GB: the paper's; rows and partials below the language "
        "at a tenth of the day",
        "as there: rows in memory end first, partials next, blocks in a file go on; the whole day from SQL: out of "
        "memory at 4.5 h, with a file to the end in 0.96 GB, 151,000 events/s beside other work",
    ),
    Reproduced(
        DISK,
        "Table 1",
        "storage",
        "50,000 to 300,000 tuples/s, windows of 5 to 30 GB, the paper's: SlideM at all of them, SQL at the lowest; "
        "any by `python -m benchmarks.storage_table1 sql RATE FOLDER`. SQL at 500 to 3,000 beside everything in memory",
        "throughput instead of an injected rate: SlideM below the language takes 6 to 30 million tuples/s over 5 to 32 "
        "GB (beside other work on the disk), from SQL a seventh of it, since every tuple is told as a `-` and a `+`; "
        "0.25 to 0.29 GB resident at 50,000 to 300,000",
    ),
    Reproduced(
        DISK,
        "Figure 11",
        "storage",
        "2 to 32 windows of 3600 to 7200 s; below the language at 5,000 tuples/s, the largest of 1 GB: the paper's; "
        "from SQL at up to 500 tuples/s",
        "as there: space constant with sharing, linear without; 34 times fewer requests at 32 windows (there 22)",
    ),
)
"""What is reproduced, and by which command: docs/papers.md has the same rows, held by a test."""
