"""What is said of a topic that results go to: a few names of ours, and the producer's own, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from windrow.errors import SettingsError
from windrow.language.spelling import closest

WRITTEN = ("json", "csv", "avro", "text", "raw")
"""What messages that are written can be."""

MARKERS = "windrow-batches"
MESSAGE = "message"
_OWN = ("bootstrap", "topic", "key", "headers", "value", "holds", "markers", "compression", MESSAGE)
_TEXTS = ("dateFormat", "timestampFormat", "ignoreNullFields", "sep", "quote", "escape", "nullValue")
_AVRO = ("schema", "schemaFile", "registry", "subject")
_KEEPING = ("keep", "keeprows", "keepmb", "keepbatches")
"""Options of every sink, for answers that the job keeps besides."""

_TAKEN = {
    "transactional.id": "it is made of the job and the sink, which is what makes rows come once",
    "enable.idempotence": "a transaction has it",
    "acks": "a transaction waits for all replicas",
}


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic and how rows become messages in it: `message` is json, csv, avro, text or raw, its options are `texts`.

    `key` and `headers` name columns; `value` the one that is a message of text or raw. `markers` is the topic that says
    which batches are done. `client` are the options of the producer, by its own names.
    """

    bootstrap: str
    topic: str
    message: str
    key: tuple[str, ...]
    headers: tuple[str, ...]
    value: str | None
    markers: str
    texts: tuple[tuple[str, str], ...]
    client: tuple[tuple[str, str], ...]


def topic_of(options: Mapping[str, str], *, rejected: bool = False) -> Topic:
    """What the options of a sink say; what cannot be right is refused. Rejected messages go as they came.

    >>> topic_of({"bootstrap": "h:9092", "topic": "alerts", "key": "card", "linger.ms": "5"}).client
    (('bootstrap.servers', 'h:9092'), ('linger.ms', '5'))
    """
    own: dict[str, str] = {}
    texts: dict[str, str] = {}
    client: dict[str, str] = {}
    message = next((value for key, value in options.items() if key.lower() == MESSAGE), "json").lower()
    of_message = _AVRO if message == "avro" else _TEXTS
    for key, value in options.items():
        bare = key.removeprefix("kafka.")
        if bare in _TAKEN:
            raise SettingsError(f"a sink of Kafka does not take {key!r}: {_TAKEN[bare]}\nhint: leave it out")
        if key.lower() in _KEEPING:
            continue
        if key.lower() in _OWN:
            own[key.lower()] = value
        elif bare == "bootstrap.servers":
            own["bootstrap"] = value
        elif "." in bare or bare in ("partitioner", "retries"):
            client[bare] = value
        elif key.lower() in (each.lower() for each in of_message):
            texts[next(each for each in of_message if each.lower() == key.lower())] = value
        else:
            meant = closest(key, [each.upper() for each in (*_OWN, *of_message)])
            way = f"did you mean {meant.lower()}?" if meant else "an option of Kafka's producer has dots, as linger.ms"
            raise SettingsError(f"a sink of Kafka has no option {key!r}\nhint: {way}")
    for needed in ("bootstrap", "topic"):
        if needed not in own:
            raise SettingsError(
                f"a sink of Kafka needs a {'broker' if needed == 'bootstrap' else needed}"
                "\nhint: OPTIONS (bootstrap 'host:9092', topic 'name')"
            )
    if "compression" in own:
        client["compression.type"] = own["compression"]
    if message not in WRITTEN:
        raise SettingsError(f"messages cannot be written as {message!r}\nhint: FORMAT {', '.join(WRITTEN)}")
    if message in ("text", "raw") and "value" not in own and not rejected:
        raise SettingsError(
            f"FORMAT {message} sends one column, and a row has more\nhint: OPTIONS (value 'column') names it"
        )
    if own.get("holds", "").lower() == "answer" and "key" not in own:
        raise SettingsError(
            "a topic that holds the answer needs the columns that tell its rows apart\nhint: key 'column, ...'"
        )
    return Topic(
        own["bootstrap"],
        own["topic"],
        message,
        _names(own.get("key", "")),
        _names(own.get("headers", "")),
        own.get("value"),
        own.get("markers", MARKERS),
        tuple(texts.items()),
        tuple(({"bootstrap.servers": own["bootstrap"]} | client).items()),
    )


def check_columns(topic: Topic, columns: tuple[str, ...]) -> None:
    """Refuse a key, a header or a value that is no column of the rows."""
    asked = {"key": topic.key, "headers": topic.headers, "value": () if topic.value is None else (topic.value,)}
    for option, names in asked.items():
        unknown = [name for name in names if name not in columns]
        if unknown:
            raise SettingsError(
                f"{option} {unknown[0]!r} is no column of the query\nhint: its columns: {', '.join(columns)}"
            )


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())
