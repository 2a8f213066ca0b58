"""Words to all shards of a stream: files beside its checkpoint, which its Spark query reads as one more source."""

from __future__ import annotations

import os

from windrow.spark.job.file_names import folder_of

CONTROL = "control"


def control_folder(checkpoint: str, stream: str) -> str:
    """Where the words to the shards of a stream are."""
    return os.path.join(folder_of(checkpoint, stream), CONTROL)


def say(folder: str, word: str, number: int | None = None) -> None:
    """Send a word, perhaps with a number, to all shards: the next batch has it, whenever that runs."""
    name = f"{len(os.listdir(folder)):09d}.txt"
    hidden = os.path.join(folder, f".{name}")  # Spark passes over it until it is whole
    with open(hidden, "w") as file:
        file.write(word if number is None else f"{word} {number}")
    os.replace(hidden, os.path.join(folder, name))
