"""Has Maven fetch the jars that tests need of S3 and HDFS, once: `python scripts/fetch_jars.py`.

They lie below the virtual environment, in `jars/s3a` and `jars/hdfs`. Of Amazon's SDK it takes the modules that S3A
uses, 18 MB, where `hadoop-aws` itself asks for all of it, 690 MB.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

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


POM = """<project>
  <modelVersion>4.0.0</modelVersion><groupId>windrow</groupId><artifactId>jars</artifactId><version>1</version>
  <dependencies>{dependencies}</dependencies>
</project>"""
ONE = "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version></dependency>"


def fetch(jars: tuple[str, ...], folder: Path) -> None:
    """Fetch these jars, and none that they depend on."""
    with TemporaryDirectory() as temporary:
        pom = Path(temporary) / "pom.xml"
        pom.write_text(POM.format(dependencies="".join(ONE.format(*jar.split(":")) for jar in jars)))
        options = ["-DexcludeTransitive=true", f"-DoutputDirectory={folder.absolute()}"]
        subprocess.run(["mvn", "-q", "-f", str(pom), "dependency:copy-dependencies", *options], check=True)


def main() -> int:
    home = Path(sys.prefix) / "jars"
    if shutil.which("mvn") is None:
        print("there is no Maven here: the jars for S3 and HDFS are left out, and their tests will skip")
        return 0
    for kind, jars in JARS.items():
        wanted = {f"{module}-{version}.jar" for _, module, version in (jar.split(":") for jar in jars)}
        there = {path.name for path in (home / kind).glob("*.jar")}
        try:
            if not wanted <= there:
                fetch(jars, home / kind)
        except subprocess.CalledProcessError:
            print(f"Maven has not fetched the jars for {kind}, and their tests will skip")
    return 0


if __name__ == "__main__":
    sys.exit(main())
