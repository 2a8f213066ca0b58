"""The schemas of Avro messages: one that is given, or those that a registry has of a subject, by their numbers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote
from urllib.request import Request, urlopen

from windrow.errors import SettingsError

_PATIENCE = 8.0
_KNOWN = ("schema", "schemaFile", "registry", "subject")


def schemas_of(options: Mapping[str, str]) -> dict[int | None, str]:
    """The schemas that messages may be written with, the newest last.

    One that is given has no number: messages are a record each. With a `registry` they begin with a zero and the four
    bytes of a schema's number, as Confluent's serializers write them; all versions of the `subject` are asked for, and
    a message with another number cannot be read.

    >>> schemas_of({"schema": '{"type": "record", "name": "tx", "fields": []}'})
    {None: '{"type": "record", "name": "tx", "fields": []}'}
    """
    strange = [name for name in options if name not in _KNOWN]
    if strange:
        raise SettingsError(f"FORMAT avro has no option {strange[0]!r}\nhint: {', '.join(_KNOWN)}")
    if "registry" in options:
        if "subject" not in options:
            raise SettingsError("schemas in a registry are asked for by subject\nhint: subject 'tx-value'")
        return _registered(options["registry"].rstrip("/"), options["subject"])
    if "schemaFile" in options:
        try:
            return {None: _record(Path(options["schemaFile"]).read_text(encoding="utf-8"))}
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            raise SettingsError(f"the schema {options['schemaFile']!r} cannot be read: {why}") from None
    if "schema" not in options:
        raise SettingsError(
            "messages of FORMAT avro need a schema"
            "\nhint: FORMAT avro OPTIONS (schema '{...}'), (schemaFile 'tx.avsc'), or (registry 'http://host:8081',"
            " subject 'tx-value')"
        )
    return {None: _record(options["schema"])}


def _registered(registry: str, subject: str) -> dict[int | None, str]:
    base = f"{registry}/subjects/{quote(subject, safe='')}/versions"
    versions = [_asked(f"{base}/{number}", registry, subject) for number in _asked(base, registry, subject)]
    return {int(each["id"]): _record(each["schema"]) for each in versions}


def _asked(url: str, registry: str, subject: str) -> Any:
    try:
        with urlopen(Request(url), timeout=_PATIENCE) as answer:
            return json.load(answer)
    except HTTPError as error:
        wrong = f"has no subject {subject!r}" if error.code == 404 else f"answers {error.code} {error.reason}"
        raise SettingsError(f"the registry {registry} {wrong}") from None
    except (URLError, OSError, ValueError) as error:
        raise SettingsError(f"the registry {registry} cannot be asked: {getattr(error, 'reason', error)}") from None


def _record(text: str) -> str:
    """A schema that is one of a record: columns are its fields."""
    try:
        schema = json.loads(text)
    except ValueError as error:
        raise SettingsError(f"the schema of the messages is no JSON: {error}") from None
    if not isinstance(schema, dict) or schema.get("type") != "record":
        raise SettingsError('the schema of the messages is not one of a record\nhint: {"type": "record", ...}')
    return text
