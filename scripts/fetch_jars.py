"""Has Maven fetch jars that Spark does not bring, once: `python scripts/fetch_jars.py`, or with names of kinds.

They lie below the virtual environment, in `jars/kafka` and so on, where Windrow finds those of connectors. `broker`
is a Kafka for tests and examples, `s3a` and `hdfs` are for tests. Of Amazon's SDK it takes the modules that S3A uses,
18 MB, where `hadoop-aws` itself asks for all of it, 690 MB.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

SPARK, HADOOP, SDK = "4.3.0", "3.5.0", "2.35.4"
"""Spark, its own Hadoop, and the SDK that this is made for."""

_SDK = (
    *("annotations", "apache-client", "arns", "auth", "aws-core", "aws-query-protocol", "aws-xml-protocol"),
    *("checksums", "checksums-spi", "crt-core", "endpoints-spi", "http-auth", "http-auth-aws"),
    *("http-auth-aws-eventstream", "http-auth-spi", "http-client-spi", "identity-spi", "json-utils", "metrics-spi"),
    *("netty-nio-client", "profiles", "protocol-core", "regions", "retries", "retries-spi", "s3"),
    *("s3-transfer-manager", "sdk-core", "sts", "third-party-jackson-core", "utils", "utils-lite"),
)


def _connector(sql: str, tokens: str) -> tuple[str, ...]:
    return (
        f"org.apache.spark:spark-sql-kafka-0-10_2.13:{sql}",
        f"org.apache.spark:spark-token-provider-kafka-0-10_2.13:{tokens}",
        "org.apache.kafka:kafka-clients:3.9.2",
        "org.apache.commons:commons-pool2:2.12.1",
    )


JARS: dict[str, tuple[tuple[str, ...], ...]] = {
    # Spark's own version first; where Maven lacks it, the newest that it has, with which the tests pass
    "kafka": (_connector(SPARK, SPARK), _connector("4.2.0", "4.0.0")),
    "avro": ((f"org.apache.spark:spark-avro_2.13:{SPARK}",), ("org.apache.spark:spark-avro_2.13:4.1.1",)),
    "postgresql": (("org.postgresql:postgresql:42.7.8",),),
    "broker": (("org.apache.kafka:kafka_2.13:4.1.1",),),
    "s3a": (
        (
            f"org.apache.hadoop:hadoop-aws:{HADOOP}",
            "software.amazon.s3.analyticsaccelerator:analyticsaccelerator-s3:1.3.1",
            *(f"software.amazon.awssdk:{module}:{SDK}" for module in _SDK),
            "software.amazon.eventstream:eventstream:1.0.1",
            "org.reactivestreams:reactive-streams:1.0.4",
            "org.apache.httpcomponents:httpclient:4.5.13",
            "org.apache.httpcomponents:httpcore:4.4.16",
        ),
    ),
    "hdfs": (
        (
            f"org.apache.hadoop:hadoop-client-minicluster:{HADOOP}",
            "org.junit.jupiter:junit-jupiter-api:5.13.3",
            "org.junit.platform:junit-platform-commons:1.13.3",
            "org.opentest4j:opentest4j:1.3.0",
            "org.mockito:mockito-core:4.11.0",
        ),
    ),
}
"""By kind the sets of jars to try, one after the other."""

WITH_ALL = ("broker",)
"""Kinds that need all that their jars depend on."""

POM = """<project>
  <modelVersion>4.0.0</modelVersion><groupId>windrow</groupId><artifactId>jars</artifactId><version>1</version>
  <dependencies>{dependencies}</dependencies>
</project>"""
ONE = "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version></dependency>"


def fetch(jars: tuple[str, ...], folder: Path, *, all_of_it: bool) -> bool:
    """Fetch these jars whole, or none of them; those that they depend on only where `all_of_it` is wanted."""
    with TemporaryDirectory() as temporary:
        pom, there = Path(temporary) / "pom.xml", Path(temporary) / "jars"
        pom.write_text(POM.format(dependencies="".join(ONE.format(*jar.split(":")) for jar in jars)))
        options = ["-DincludeScope=runtime" if all_of_it else "-DexcludeTransitive=true", f"-DoutputDirectory={there}"]
        if not all_of_it:  # Maven looks for what jars depend on though it is not to fetch it
            anything = "<exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion>"
            exclusions = f"<exclusions>{anything}</exclusions>"
            pom.write_text(pom.read_text().replace("</dependency>", f"{exclusions}</dependency>"))
        command = ["mvn", "-q", "-B", "-f", str(pom), "dependency:copy-dependencies", *options]
        if subprocess.run(command, capture_output=True, check=False).returncode != 0:
            return False
        folder.mkdir(parents=True, exist_ok=True)
        for jar in there.glob("*.jar"):
            shutil.move(jar, folder / jar.name)
        return True


def main(kinds: list[str]) -> int:
    home = Path(sys.prefix) / "jars"
    if shutil.which("mvn") is None:
        print("there is no Maven here: jars of Kafka, Avro, S3 and HDFS are left out, and their tests will skip")
        return 0
    for kind in kinds or JARS:
        there = {path.name for path in (home / kind).glob("*.jar")}
        if any({"-".join(jar.split(":")[1:]) + ".jar" for jar in jars} <= there for jars in JARS[kind]):
            continue
        if not any(fetch(jars, home / kind, all_of_it=kind in WITH_ALL) for jars in JARS[kind]):
            print(f"Maven has not fetched the jars for {kind}, and their tests will skip")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
