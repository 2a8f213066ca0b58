"""Writes network connections into a folder, as Parquet files: real ones where they are at hand, else generated ones.

python examples/network/generate.py connections
python examples/network/generate.py connections --files 12 --generated --days 2 --seed 7
"""

from __future__ import annotations

import argparse
import os
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

REAL = Path(__file__).resolve().parents[3] / "shared" / "data" / "network_connections.tsv.gz"
"""105,918 connections that one host saw in three days of April 2024, if they lie beside the checkout."""

SCHEMA = pa.schema(
    {
        "ts": pa.timestamp("us", tz="UTC"),
        "host": pa.string(),
        "port": pa.int32(),
        "proto": pa.string(),
        "service": pa.string(),
        "duration": pa.float64(),
        "bytes": pa.int64(),
        "state": pa.string(),
    }
)
BEGIN_US = 1_713_484_800_000_000
DAY_S = 86_400
A_DAY = 35_000
"""So many connections a day, as many as the real ones."""
HOSTS, LOYAL = 15_000, 8
STATES = np.array(["REJ", "SF", "OTH", "RSTO", "S0"])
SHARES = [0.53, 0.3, 0.13, 0.02, 0.02]


def real_connections(path: Path = REAL) -> pa.Table:
    """The connections of a log of Zeek, `-` for what is not known, in order of time."""
    table = pyarrow.csv.read_csv(
        path,
        parse_options=pyarrow.csv.ParseOptions(delimiter="\t"),
        convert_options=pyarrow.csv.ConvertOptions(
            null_values=["-"],
            strings_can_be_null=True,
            column_types={"ts": pa.float64(), "orig_bytes": pa.int64(), "resp_bytes": pa.int64()},
            include_columns=[
                "ts", "orig_h", "resp_p", "proto", "service", "duration", "orig_bytes", "resp_bytes", "conn_state",
            ],
        ),
    )  # fmt: skip
    micros = pc.cast(pc.round(pc.multiply(table["ts"], 1e6)), pa.int64())
    columns = {
        "ts": micros,
        "host": table["orig_h"],
        "port": table["resp_p"],
        "proto": table["proto"],
        "service": table["service"],
        "duration": table["duration"],
        "bytes": pc.add(table["orig_bytes"], table["resp_bytes"]),
        "state": table["conn_state"],
    }
    return pa.table([column.cast(field.type) for column, field in zip(columns.values(), SCHEMA)], schema=SCHEMA)


def generated_connections(days: float = 3, seed: int = 42) -> pa.Table:
    """Connections like the real ones: a daily rhythm, hosts that come once and for ever, scans, and bytes with a trend.

    >>> some = generated_connections(days=0.1)
    >>> some.schema == SCHEMA, some.num_rows > 3000, some["ts"].null_count
    (True, True, 0)
    """
    random = np.random.default_rng(seed)
    count = round(A_DAY * days)
    seconds = random.uniform(0, days * DAY_S, 2 * count)
    rhythm = 0.5 + 0.3 * np.sin(2 * np.pi * seconds / DAY_S)
    seconds = seconds[random.random(2 * count) < rhythm]
    hosts = np.floor(HOSTS * random.random(len(seconds)) ** 3).astype(int) + LOYAL
    loyal = random.random(len(seconds)) < 0.1  # a few hosts are there all day long
    hosts[loyal] = random.integers(0, LOYAL, np.count_nonzero(loyal))
    for _ in range(max(1, round(4 * days))):  # scans: one host, half an hour, every port once
        scan = random.uniform(0, days * DAY_S) + np.sort(random.uniform(0, 1_800, 900))
        seconds = np.concatenate([seconds, scan])
        hosts = np.concatenate([hosts, np.full(len(scan), random.integers(LOYAL, HOSTS))])
    order = np.argsort(seconds, kind="stable")
    seconds, hosts = seconds[order], hosts[order]
    state = random.choice(STATES, len(seconds), p=SHARES)
    trend = 5 + np.sin(2 * np.pi * seconds / (DAY_S / 3)) + seconds / DAY_S / 2
    carried = np.where(state == "SF", np.exp(random.normal(trend, 1.0)), 0)
    tcp = random.random(len(seconds)) < 0.8
    return pa.table(
        {
            "ts": pa.array(BEGIN_US + (seconds * 1e6).astype(np.int64)).cast(SCHEMA.field("ts").type),
            "host": pa.array([f"10.{host >> 16 & 255}.{host >> 8 & 255}.{host & 255}" for host in hosts.tolist()]),
            "port": pa.array(random.integers(1, 65_536, len(seconds)), pa.int32()),
            "proto": pa.array(np.where(tcp, "tcp", "udp")),
            "service": pa.array(np.where(state == "SF", "http", ""), mask=state != "SF"),
            "duration": pa.array(random.exponential(5.0, len(seconds)), mask=state != "SF"),
            "bytes": pa.array(carried.astype(np.int64)),
            "state": pa.array(state),
        },
        schema=SCHEMA,
    )


def write_connections(folder: Path, files: int, table: pa.Table) -> None:
    """Write `table` as `files` files, in order of time."""
    folder.mkdir(parents=True, exist_ok=True)
    edges = [table.num_rows * number // files for number in range(files + 1)]
    for number, (start, stop) in enumerate(pairwise(edges)):
        name = f"{number:05d}.parquet"
        pq.write_table(table.slice(start, stop - start), folder / f".{name}")  # readers pass over names with a dot
        os.utime(folder / f".{name}", (number, number))  # Spark reads files in the order of their age
        os.replace(folder / f".{name}", folder / name)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder", type=Path, help="where the Parquet files go")
    arguments.add_argument("--files", type=int, default=12, help="how many files")
    arguments.add_argument("--generated", action="store_true", help="generate them though real ones are at hand")
    arguments.add_argument("--days", type=float, default=3, help="how many days are generated")
    arguments.add_argument("--seed", type=int, default=42, help="another seed gives other connections")
    chosen = arguments.parse_args()
    real = REAL.exists() and not chosen.generated
    table = real_connections() if real else generated_connections(chosen.days, chosen.seed)
    write_connections(chosen.folder, chosen.files, table)
    print(f"{table.num_rows:,} {'real' if real else 'generated'} connections are in {chosen.folder}")


if __name__ == "__main__":
    main()
