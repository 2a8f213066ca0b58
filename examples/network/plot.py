"""Draws the trend lines of all levels at one instant, as in Figure 3 of the paper on multi-granular windows.

python examples/network/plot.py answers/trends trends.png
"""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

LEVELS = ("10 minutes", "1 hour", "3 hours", "12 hours", "1 day")


def lines_at(trends: pa.Table, end_s: float) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    """For each level, the two ends of the trend line over the window that ends last until `end_s`: seconds, values.

    >>> at = [datetime.fromtimestamp(second, UTC) for second in (40, 100)]
    >>> one = {"window_start": [at[0]], "window_end": [at[1]], "level": [0], "slope": [0.5], "intercept": [1.0]}
    >>> {level: (xs.tolist(), ys.tolist()) for level, (xs, ys) in lines_at(pa.table(one), 120).items()}
    {0: ([40.0, 100.0], [21.0, 51.0])}
    """
    lines = {}
    for level in sorted(set(trends["level"].to_pylist())):
        own = [row for row in trends.filter(pc.equal(trends["level"], level)).to_pylist() if row["slope"] is not None]
        own = [row for row in own if row["window_end"].timestamp() <= end_s]
        if own:
            newest = max(own, key=lambda row: row["window_end"])
            ends = np.array([newest["window_start"].timestamp(), newest["window_end"].timestamp()])
            lines[level] = ends, newest["slope"] * ends + newest["intercept"]
    return lines


def draw(trends: pa.Table, path: Path, end_s: float | None = None) -> None:
    """The means of the finest level as points, and a trend line for each level, all of which end at one instant.

    On the left is the whole day, on the right its last three hours.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    if end_s is None:  # when the widest level has slid last: all others have, too
        widest = trends.filter(pc.equal(trends["level"], pc.max(trends["level"])))
        end_s = pc.max(widest["window_end"]).as_py().timestamp()
    lines = lines_at(trends, end_s)
    finest = trends.filter(pc.equal(trends["level"], 0)).sort_by("window_end")
    seconds = np.array([end.timestamp() for end in finest["window_end"].to_pylist()])
    means = finest["mean"].to_numpy()
    figure, panels = pyplot.subplots(1, 2, figsize=(14, 5), sharey=True)
    for axes, hours in zip(panels, (24, 3)):
        every = 600 if hours == 24 else 60  # windows of ten minutes that do not overlap, and each of them
        shown = (seconds > end_s - hours * 3600) & (seconds <= end_s) & ((end_s - seconds) % every == 0)
        axes.plot((seconds[shown] - end_s) / 3600, means[shown], ".", color="0.7", label="mean of ten minutes")
        for level, (xs, ys) in lines.items():
            axes.plot((xs - end_s) / 3600, ys, color=f"C{level}", linewidth=2, label=f"level {level}: {LEVELS[level]}")
        until = datetime.fromtimestamp(end_s, UTC).strftime("%Y-%m-%d %H:%M")
        axes.set(xlabel=f"hours before {until} UTC", xlim=(-hours * 1.02, hours * 0.02))
    panels[0].set(ylabel="ln(1 + bytes)", title="Trends at five time horizons")
    panels[1].set(title="The last three hours")
    panels[0].legend(fontsize=8, loc="lower left")
    figure.tight_layout()
    figure.savefig(path, dpi=100)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("trends", type=Path, help="the folder that the query of trends writes to")
    arguments.add_argument("picture", type=Path, help="the file to draw")
    chosen = arguments.parse_args()
    draw(pq.read_table(chosen.trends), chosen.picture)
    print(f"the trends are drawn in {chosen.picture}")


if __name__ == "__main__":
    main()
