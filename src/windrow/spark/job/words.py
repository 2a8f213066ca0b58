"""Words to all shards of a stream: files beside its checkpoint, which its Spark query reads as one more source."""

from __future__ import annotations

from windrow.places.place import AnyPlace, Place
from windrow.spark.job.file_names import folder_of

CONTROL = "control"


def control_folder(checkpoint: AnyPlace, stream: str) -> Place:
    """Where the words to the shards of a stream are."""
    return folder_of(checkpoint, stream) / CONTROL


def make_control(folder: Place) -> None:
    """Make the folder of words; where a folder is only there with a file in it, it gets one that Spark passes over."""
    folder.make_folder()
    if not folder.is_folder():
        (folder / "_words").write(b"")


def say(folder: Place, word: str, number: int | None = None) -> None:
    """Send a word, perhaps with a number, to all shards: the next batch has it, whenever that runs."""
    said = [name for name in folder.names() if name.endswith(".txt")]
    word = word if number is None else f"{word} {number}"
    (folder / f"{len(said):09d}.txt").write(word.encode())
