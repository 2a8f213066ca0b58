"""Fetches the jars that tests need of S3 and HDFS from Maven, once: `python scripts/fetch_jars.py`.

They lie below the virtual environment, in `jars/s3a` and `jars/hdfs`. Of Amazon's SDK it takes the modules that S3A
uses, 18 MB, where `hadoop-aws` itself asks for all of it, 690 MB.
"""

from __future__ import annotations

import sys
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

MAVEN = "https://repo1.maven.org/maven2"
HADOOP, SDK = "3.5.0", "2.35.4"
"""Spark's own Hadoop, and the SDK that this is made for."""

_SDK = (
    *("annotations", "apache-client", "arns", "auth", "aws-core", "aws-query-protocol", "aws-xml-protocol"),
    *("checksums", "checksums-spi", "crt-core", "endpoints-spi", "http-auth", "http-auth-aws"),
    *("http-auth-aws-eventstream", "http-auth-spi", "http-client-spi", "identity-spi", "json-utils", "metrics-spi"),
    *("netty-nio-client", "profiles", "protocol-core", "regions", "retries", "retries-spi", "s3"),
    *("s3-transfer-manager", "sdk-core", "sts", "third-party-jackson-core", "utils", "utils-lite"),
)
JARS = {
    "s3a": (
        f"org.apache.hadoop:hadoop-aws:{HADOOP}",
        "software.amazon.s3.analyticsaccelerator:analyticsaccelerator-s3:1.3.1",
        *(f"software.amazon.awssdk:{module}:{SDK}" for module in _SDK),
        "software.amazon.eventstream:eventstream:1.0.1",
        "org.reactivestreams:reactive-streams:1.0.4",
        "org.apache.httpcomponents:httpclient:4.5.13",
        "org.apache.httpcomponents:httpcore:4.4.16",
    ),
    "hdfs": (
        f"org.apache.hadoop:hadoop-client-minicluster:{HADOOP}",
        "org.junit.jupiter:junit-jupiter-api:5.13.3",
        "org.junit.platform:junit-platform-commons:1.13.3",
        "org.opentest4j:opentest4j:1.3.0",
        "org.mockito:mockito-core:4.11.0",
    ),
}


def fetch(coordinates: str, folder: Path) -> None:
    """Fetch one jar, unless it is there: written beside, and renamed."""
    group, module, version = coordinates.split(":")
    name = f"{module}-{version}.jar"
    if (folder / name).exists():
        return
    url = f"{MAVEN}/{group.replace('.', '/')}/{module}/{version}/{name}"
    waiting = folder / f"{name}.new"
    with urllib.request.urlopen(url, timeout=60) as answer:
        waiting.write_bytes(answer.read())
    waiting.rename(folder / name)


def main() -> int:
    home = Path(sys.prefix) / "jars"
    wanted = [(jar, home / kind) for kind, jars in JARS.items() for jar in jars]
    for kind in JARS:
        (home / kind).mkdir(parents=True, exist_ok=True)
    try:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda jar: fetch(*jar), wanted))
    except OSError as error:
        print(f"the jars for S3 and HDFS are not to be had from Maven ({error}), and their tests will skip")
    return 0


if __name__ == "__main__":
    sys.exit(main())
