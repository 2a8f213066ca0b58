"""Card transactions through Kafka, from first to last on this machine: `python examples/fraud/run.py [FOLDER]`.

Starts a broker and a database, sends three hours of transactions, runs `fraud.sql`, and compares what came out with
DuckDB.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1]))

from lab.broker import Broker, missing, running_broker  # noqa: E402
from lab.postgres import missing_postgres, running_postgres  # noqa: E402

START = datetime(2026, 1, 1, tzinfo=UTC)
CARDS, COUNTRIES, EVENTS = 20, ("AT", "DE", "FR", "IT", "JP", "US"), 6_000


def transactions() -> list[dict[str, Any]]:
    """Three hours: most cards stay in two countries, some do not."""
    draw, found = random.Random(7), []
    for number in range(EVENTS):
        card = draw.randrange(CARDS)
        country = draw.choice(COUNTRIES if card % 7 == 0 else COUNTRIES[card % 3 : card % 3 + 2])
        at = START + timedelta(seconds=number * 3 * 3600 / EVENTS)
        amount = float(draw.randrange(1, 100))
        found.append({"card": f"card-{card}", "country": country, "amount": amount, "ts": f"{at:%Y-%m-%d %H:%M:%S}"})
    return found


def compare(broker: Broker, folder: Path, events: list[dict[str, Any]]) -> None:
    """Every alert, every place and every sum is there once, as DuckDB has it."""
    import deltalake

    values = ", ".join(f"('{e['card']}', '{e['country']}', {e['amount']}, TIMESTAMP '{e['ts']}')" for e in events)
    duckdb.sql(f"CREATE TABLE tx AS SELECT * FROM (VALUES {values}) AS tx(card, country, amount, ts)")
    duckdb.sql(
        f"CREATE TABLE limits AS SELECT 'card-' || i AS card, 1000.0 * (1 + i % 12) AS most FROM range({CARDS}) r(i)"
    )
    duckdb.sql(
        """CREATE TABLE ends AS SELECT UNNEST(generate_series(
           TIMESTAMP '2026-01-01 00:01', TIMESTAMP '2026-01-01 04:00', INTERVAL 1 MINUTE)) AS e"""
    )
    window = "FROM tx JOIN ends ON ts < e AND ts >= e - INTERVAL {} MINUTE"
    end = "strftime(e, '%Y-%m-%dT%H:%M:%S.000Z')"
    alerts = f"""SELECT {end}, card, SUM(amount), MAX(most) {window.format(60)} JOIN limits USING (card)
                 GROUP BY e, card HAVING SUM(amount) > MAX(most)"""
    places = f"""SELECT {end}, card, COUNT(DISTINCT country) {window.format(30)} GROUP BY e, card
                 HAVING COUNT(DISTINCT country) > 3"""
    sums = f"SELECT {end}, card, SUM(amount), COUNT(*) {window.format(60)} GROUP BY e, card"

    def sent(topic: str, *names: str) -> Counter[tuple[Any, ...]]:
        rows = (json.loads(message.value()) for message in broker.committed(topic))
        return Counter(tuple(row[name] for name in ("window_end", *names)) for row in rows)

    lake = deltalake.DeltaTable(str(folder / "sums")).to_pyarrow_table().to_pylist()
    held = Counter((f"{row['window_end']:%Y-%m-%dT%H:%M:%S}.000Z", row["card"], row["spent"], row["n"]) for row in lake)
    found = {
        "alerts": sent("alerts", "card", "spent", "most"),
        "places": sent("places", "card", "countries"),
        "sums": held,
    }
    for name, query in {"alerts": alerts, "places": places, "sums": sums}.items():
        expected = Counter(duckdb.sql(query).fetchall())
        assert found[name] == expected, (name, list((found[name] - expected).items())[:3], len(expected))
        print(f"{name}: {expected.total():,} rows, each once, as DuckDB has them")
    for (at, card, spent, most), _ in sorted(found["alerts"].items())[:3]:
        print(f"  as {card}, which spent {spent:,.0f} in the hour to {at[11:16]}; {most:,.0f} are allowed")
    letters = broker.committed("tx-dead")
    assert [message.value() for message in letters] == [b"no transaction"]
    print("tx-dead: the one message that is none, as it came")


def main(folder: Path) -> int:
    """Run it all; what is missing is said."""
    lacks = missing("broker", "kafka", "postgresql") or missing_postgres()
    if lacks is not None:
        print(lacks)
        return 1
    if (folder / "broker").exists():
        print(f"{folder} has been used before: name a new one")
        return 1
    for name in ("broker", "database"):
        (folder / name).mkdir(parents=True)
    with running_broker(folder / "broker") as broker, running_postgres(folder / "database") as database:
        for topic in ("tx", "tx-dead", "alerts", "places"):
            broker.topic(1, topic)
        numbers = f"generate_series(0, {CARDS - 1}) i"
        limits = f"SELECT 'card-' || i AS card, 1000.0::float8 * (1 + i % 12) AS most FROM {numbers}"
        database.ask(f"CREATE TABLE limits AS {limits}")
        events = transactions()
        broker.send(
            "tx", [*({"value": json.dumps(event), "key": event["card"]} for event in events), b"no transaction"]
        )
        print(f"{len(events):,} transactions are in topic tx of {broker.address}; limits are in {database.url}")
        print(f"alerts go to the topics alerts and places, sums to the Delta table {folder / 'sums'}")
        print(f"how the job is doing, from another terminal: windrow status {folder / 'checkpoint'}", flush=True)
        settings = {"broker": broker.address, "database": database.url, "folder": str(folder)}
        variables = [part for name, value in settings.items() for part in ("--var", f"{name}={value}")]
        windrow = Path(sys.executable).parent / "windrow"
        command = [str(windrow), "run", str(HERE / "fraud.sql"), "--checkpoint", str(folder / "checkpoint")]
        subprocess.run([*command, "--available-now", "--flush", *variables], check=True, env=dict(os.environ))
        compare(broker, folder, events)
    return 0


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(main(Path(sys.argv[1])))
    print("table and checkpoint are gone in the end; python examples/fraud/run.py FOLDER keeps them in a new FOLDER")
    with tempfile.TemporaryDirectory(prefix="fraud-") as temporary:
        sys.exit(main(Path(temporary)))
