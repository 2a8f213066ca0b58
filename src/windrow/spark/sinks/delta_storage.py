"""How `deltalake` reaches a table: by a path of this machine, or in a bucket with the credentials that Spark has."""

from __future__ import annotations

import json
from typing import Any

from windrow.errors import SettingsError
from windrow.places.object_home import ObjectHome
from windrow.places.place import Place

_KEYS = {
    "key": "AWS_ACCESS_KEY_ID",
    "secret": "AWS_SECRET_ACCESS_KEY",
    "token": "AWS_SESSION_TOKEN",
    "endpoint_url": "AWS_ENDPOINT_URL",
}


def delta_address(place: Place) -> tuple[str, dict[str, str] | None]:
    """The address of a table for `deltalake`, and its options there; what no setting says it finds by itself.

    >>> told = {"key": "me", "secret": "it", "endpoint_url": "http://h:9", "client_kwargs": {"region_name": "eu"}}
    >>> address, options = delta_address(Place(ObjectHome("s3", "s3a", "s3a", json.dumps(told)), "bucket/lake"))
    >>> address, options["AWS_ENDPOINT_URL"], options["AWS_ALLOW_HTTP"], options["AWS_REGION"]
    ('s3://bucket/lake', 'http://h:9', 'true', 'eu')
    """
    if place.is_local:
        return place.path, None
    if not isinstance(place.home, ObjectHome) or place.home.protocol != "s3":
        raise SettingsError(
            f"a table of delta at {place} is not written: it may be on this machine or in S3"
            "\nhint: a sink of parquet can be anywhere"
        )
    return f"s3://{place.path}", _s3(json.loads(place.home.options))


def _s3(told: dict[str, Any]) -> dict[str, str]:
    found = {name: str(told[key]) for key, name in _KEYS.items() if key in told}
    if str(told.get("endpoint_url", "")).startswith("http://"):
        found["AWS_ALLOW_HTTP"] = "true"
    if "region_name" in told.get("client_kwargs", {}):
        found["AWS_REGION"] = told["client_kwargs"]["region_name"]
    if told.get("config_kwargs", {}).get("s3", {}).get("addressing_style") == "path":
        found["AWS_VIRTUAL_HOSTED_STYLE_REQUEST"] = "false"
    if told.get("anon"):
        found["AWS_SKIP_SIGNATURE"] = "true"
    return found
