"""One sliding query in Flink, run by a Python that has it: `python flink_hop.py FOLDER OUT MINUTES JAR...`.

Prints one line of JSON: the seconds that the job took, from its start to its end, without that of the JVM. Its source
reads files in an order of its own, so that the watermark is a day behind, or events would be late.
"""

from __future__ import annotations

import json
import sys


def run_hop(folder: str, out: str, minutes: str, *jars: str) -> None:
    from pyflink.table import EnvironmentSettings, TableEnvironment  # type: ignore[import-not-found]

    tables = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    settings = tables.get_config()
    settings.set("parallelism.default", "2")
    settings.set("pipeline.jars", ";".join(f"file://{jar}" for jar in jars))
    settings.set("table.exec.source.idle-timeout", "1 s")
    settings.set("table.optimizer.agg-phase-strategy", "TWO_PHASE")
    tables.execute_sql(f"""
        CREATE TABLE ticks (
            ts BIGINT, symbol STRING, price DOUBLE, volume INT,
            t AS TO_TIMESTAMP_LTZ(ts / 1000, 3), WATERMARK FOR t AS t - INTERVAL '1' DAY
        ) WITH ('connector' = 'filesystem', 'path' = 'file://{folder}', 'format' = 'parquet')""")
    sink = "'blackhole'" if out == "-" else f"'filesystem', 'path' = 'file://{out}', 'format' = 'csv'"
    tables.execute_sql(
        f"CREATE TABLE results (window_end BIGINT, symbol STRING, vwap DOUBLE) WITH ('connector' = {sink})"
    )
    result = tables.execute_sql(f"""
        INSERT INTO results
        SELECT UNIX_TIMESTAMP(CAST(window_end AS STRING)), symbol, SUM(price * volume) / SUM(volume)
        FROM TABLE(HOP(TABLE ticks, DESCRIPTOR(t), INTERVAL '1' SECOND, INTERVAL '{minutes}' MINUTE))
        GROUP BY window_start, window_end, symbol""")
    result.wait()
    job = result.get_job_client().get_job_execution_result().result()
    print(json.dumps({"seconds": job.get_net_runtime() / 1000}))


if __name__ == "__main__":
    run_hop(*sys.argv[1:])
