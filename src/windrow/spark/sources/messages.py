"""Messages into columns: JSON, CSV, Avro, text or bytes, by Spark's own functions; one that cannot be read says so."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F

from windrow.errors import SettingsError
from windrow.language import identifier_sql
from windrow.language.spelling import closest
from windrow.plan.kafka_options import MESSAGES
from windrow.plan.known_options import unknown_option
from windrow.spark.sources.registry import schemas_of

UNREADABLE, MESSAGE = "_windrow_unreadable", "_windrow_message"
"""Columns beside those of a stream: why a message cannot be read, and the message with its place in the topic."""

_DECODED, _READ = "_windrow_decoded", "_windrow_read"
_CORRUPT = "_corrupt_record"
_ABOUT = {
    "key": ("STRING", "BINARY"),
    "topic": ("STRING",),
    "partition": ("INT", "BIGINT"),
    "offset": ("BIGINT",),
    "timestamp": ("TIMESTAMP",),
    "headers": ("ARRAY<STRUCT<key: STRING, value: BINARY>>",),
}
"""What a message has beside its value, and the types that it can be declared as."""

_HEADER = "headers."


def metadata_columns(metadata: Mapping[str, tuple[str, str]]) -> dict[str, str]:
    """By column the expression over a message that it is; `metadata` says of each what it is, and its type.

    >>> metadata_columns({"sent": ("timestamp", "TIMESTAMP"), "trace": ("headers.trace", "STRING")})["sent"]
    'CAST(`timestamp` AS TIMESTAMP)'
    """
    found = {}
    for column, (about, kind) in metadata.items():
        header = about.removeprefix(_HEADER) if about.startswith(_HEADER) else None
        types = ("STRING", "BINARY") if header is not None else _ABOUT.get(about.lower())
        if types is None:
            meant = closest(about, [name.upper() for name in _ABOUT])
            known = f"{', '.join(_ABOUT)}, or one header: METADATA FROM 'headers.trace'"
            raise SettingsError(
                f"a message has no {about!r}\nhint: {f'did you mean {meant.lower()}?' if meant else known}"
            )
        if kind.replace(" ", "").upper() not in (each.replace(" ", "").upper() for each in types):
            raise SettingsError(f"{about} of a message is not {kind}\nhint: {column} {' or '.join(types)} METADATA")
        text = about.lower() if header is None else f"get(filter(headers, h -> h.key = {_quoted(header)}), 0).value"
        found[column] = f"CAST({text if header is not None else f'`{text}`'} AS {kind})"
    return found


@dataclass(frozen=True, slots=True)
class Decoding:
    """How the value of a message becomes columns: `format` and its options, and the columns with their types."""

    format: str
    options: Mapping[str, str]
    declared: tuple[tuple[str, str], ...]
    schemas: Mapping[int | None, str] = field(default_factory=dict)

    @staticmethod
    def of(format: str | None, options: Mapping[str, str], columns: Sequence[tuple[str, str]]) -> Decoding:
        """What is said of the messages of a stream; what cannot be right is refused."""
        if format is None:
            raise SettingsError(
                f"a stream from Kafka says what its messages are\nhint: FORMAT {', '.join(MESSAGES[:-1])} or raw"
            )
        if format not in MESSAGES:
            meant = closest(format, [name.upper() for name in MESSAGES])
            way = f"did you mean {meant.lower()}?" if meant else f"FORMAT {', '.join(MESSAGES)}"
            raise SettingsError(f"messages cannot be {format!r}\nhint: {way}")
        declared = tuple(columns)
        if format in ("text", "raw"):
            kind = "STRING" if format == "text" else "BINARY"
            declared = declared or (("value", kind),)
            if options:
                raise SettingsError(f"FORMAT {format} has no options\nhint: leave out OPTIONS behind FORMAT {format}")
            if len(declared) != 1 or declared[0][1] != kind:
                raise SettingsError(
                    f"a message of FORMAT {format} is one column of type {kind}"
                    f"\nhint: (value {kind}), and columns with METADATA"
                )
            return Decoding(format, {}, declared)
        if format == "avro":
            return Decoding(format, dict(options), declared, schemas_of(options))
        if not declared:
            raise SettingsError(f"messages of FORMAT {format} need columns\nhint: (card STRING, amount DOUBLE)")
        wrong = unknown_option(format, options)
        if wrong is not None:
            raise SettingsError(f"{wrong[1]}\nhint: {wrong[2]}")
        return Decoding(format, dict(options), declared)

    def steps(self) -> list[Column]:
        """What is found out of a message once, for all of its columns."""
        if self.format in ("text", "raw"):
            return []
        if self.format == "avro":
            return [self._avro().alias(_DECODED)]
        schema = ", ".join(f"{identifier_sql(name)} {kind}" for name, kind in (*self.declared, (_CORRUPT, "STRING")))
        options = {"mode": "PERMISSIVE", **self.options, "columnNameOfCorruptRecord": _CORRUPT}
        read = F.from_json if self.format == "json" else F.from_csv
        return [read(F.expr("CAST(value AS STRING)"), schema, options).alias(_DECODED)]

    def columns(self) -> list[Column]:
        """The columns that queries see."""
        if self.format in ("text", "raw"):
            name, kind = self.declared[0]
            return [F.expr(f"CAST(value AS {kind})").alias(name)]
        if self.format == "avro" and not self.declared:
            return [F.col(f"{_DECODED}.{identifier_sql(name)}").alias(name) for name in self._avro_fields()]
        chosen = ((name, kind, f"{_DECODED}.{identifier_sql(name)}") for name, kind in self.declared)
        return [F.expr(f"CAST({path} AS {kind})").alias(name) for name, kind, path in chosen]

    def unreadable(self) -> str:
        """An expression that is NULL for a message that can be read."""
        if self.format == "raw":
            return "CAST(NULL AS STRING)"
        if self.format == "text":
            return "IF(is_valid_utf8(CAST(value AS STRING)), NULL, 'text')"
        if self.format == "avro":
            return f"IF(value IS NOT NULL AND {_DECODED}.{_READ} IS NULL, 'avro', NULL)"
        return f"{_DECODED}.{_CORRUPT}"

    def _avro_fields(self) -> list[str]:
        return [each["name"] for each in json.loads(self._reader())["fields"] if each["name"] != _READ]

    def _reader(self) -> str:
        """The schema that all messages are read as, which tells what was read from what could not be.

        Spark gives a record of NULLs for bytes that it cannot read, and one that was written may be such a one; a field
        that nobody has written has its default in all that was read.
        """
        newest: dict[str, Any] = json.loads(list(self.schemas.values())[-1])
        fields = [*newest["fields"], {"name": _READ, "type": ["boolean", "null"], "default": True}]
        missing = [name for name, _ in self.declared if name not in {each["name"] for each in newest["fields"]}]
        if missing:
            known = ", ".join(each["name"] for each in newest["fields"])
            raise SettingsError(f"the schema of the messages has no field {missing[0]!r}\nhint: its fields: {known}")
        return json.dumps(newest | {"fields": fields})

    def _avro(self) -> Column:
        try:
            from pyspark.sql.avro.functions import from_avro
        except ImportError:  # pragma: no cover
            raise SettingsError("this Spark has no Avro\nhint: --package avro") from None
        reading = {"mode": "PERMISSIVE", "avroSchema": self._reader()}
        if None in self.schemas:
            return from_avro("value", self.schemas[None], reading)
        decoded: Column | None = None
        for number, schema in self.schemas.items():
            assert number is not None
            own = F.expr(f"substring(value, 1, 5) = X'{number:010X}'")
            read = from_avro(F.expr("substring(value, 6)"), schema, reading)
            decoded = F.when(own, read) if decoded is None else decoded.when(own, read)
        assert decoded is not None
        return decoded


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
