"""How Spark writes files on a local disk: without a process for each of them. It lists them by name.

Without its native library, which no package of Python brings, Hadoop starts the program `chmod` for each file and each
folder that it makes. A small batch makes ten to fourteen, and the start of a job thirty: a tenth of the CPU of such a
batch went into that. `LocalFiles.java` does the same by a call of the operating system. Spark brings a compiler.
A disk gives the files of a folder in any order, and so Spark would read those that were modified at one instant.
"""

from __future__ import annotations

from importlib.resources import files
from threading import Thread
from threading import enumerate as all_threads

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

_SETTING, _CLASS = "fs.file.impl", "windrow.LocalFiles"
_THREAD = "windrow local files"


def begin_to_write_so(spark: SparkSession) -> None:
    """Let all of this JVM write so soon: the compiler takes 0.4 s, in which a program reads and plans its queries.

    What is written before is written as ever, and files that are open then are closed as they were opened.
    """
    Thread(target=write_without_processes, args=(spark,), name=_THREAD, daemon=True).start()


def wait_for_names() -> None:
    """Wait until files are listed by name, if that is under way: for whom their order decides what is late."""
    for thread in all_threads():
        if thread.name == _THREAD:
            thread.join()


def write_without_processes(spark: SparkSession) -> bool:
    """Let all of this JVM write so from now on; whether that can be done.

    It cannot where somebody chose another class, nor where this Spark lacks the compiler: then all is as it was.
    """
    jvm, plain = spark.sparkContext._jvm, spark.sparkContext._jsc.hadoopConfiguration()
    assert jvm is not None
    if plain.get(_SETTING) is not None:
        return False
    try:
        compiler = jvm.org.codehaus.janino.SimpleCompiler()
        compiler.cook(files("windrow.spark").joinpath("LocalFiles.java").read_text())
        settings = jvm.org.apache.hadoop.conf.Configuration(plain)
        settings.setClassLoader(compiler.getClassLoader())
        settings.set(_SETTING, _CLASS)
        place, file_systems = jvm.java.net.URI("file:///"), jvm.org.apache.hadoop.fs.FileSystem
        file_systems.get(place, plain).close()  # the next who asks makes one, and all others then find it
        return str(file_systems.get(place, settings).getClass().getName()) == _CLASS
    except (Py4JError, TypeError, OSError):  # no such class: a package to py4j; or Spark has ended
        return False
