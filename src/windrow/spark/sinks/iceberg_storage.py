"""How `pyiceberg` reaches a table: by a path of this machine, or in a bucket with the credentials that Spark has."""

from __future__ import annotations

import json
import os
from typing import Any

from windrow.errors import SettingsError
from windrow.places.addresses import FILE, local_path, scheme_of
from windrow.places.object_home import ObjectHome
from windrow.places.place import Place

_KEYS = {
    "key": "s3.access-key-id",
    "secret": "s3.secret-access-key",
    "token": "s3.session-token",
    "endpoint_url": "s3.endpoint",
}
BUCKETS = ("s3", "s3a")
"""What addresses of tables in S3 begin with."""


def iceberg_address(path: str) -> str:
    """The address of a table, or of a file in it, as a catalog has it: whole, and with what it begins with.

    >>> iceberg_address("/lake/a b"), iceberg_address("s3a://bucket/lake"), iceberg_address("file:///lake")
    ('file:///lake/a b', 's3://bucket/lake', 'file:///lake')
    """
    scheme = scheme_of(path)
    if scheme == FILE:
        return f"file://{os.path.abspath(local_path(path))}"
    if scheme not in BUCKETS:
        raise SettingsError(
            f"a table of iceberg at {path} is not written: it may be on this machine or in S3"
            "\nhint: a sink of parquet can be anywhere"
        )
    return f"s3://{path.split('://', 1)[1]}"


def iceberg_storage(place: Place) -> dict[str, str]:
    """Properties of `pyiceberg` for a bucket; what no setting says it finds by itself.

    >>> told = {"key": "me", "secret": "it", "endpoint_url": "http://h:9", "client_kwargs": {"region_name": "eu"}}
    >>> found = iceberg_storage(Place(ObjectHome("s3", "s3a", "s3a", json.dumps(told)), "bucket/lake"))
    >>> found["s3.access-key-id"], found["s3.endpoint"], found["s3.region"]
    ('me', 'http://h:9', 'eu')
    """
    assert isinstance(place.home, ObjectHome), "of a bucket"
    told: dict[str, Any] = json.loads(place.home.options)
    found = {name: str(told[key]) for key, name in _KEYS.items() if key in told}
    if "region_name" in told.get("client_kwargs", {}):
        found["s3.region"] = told["client_kwargs"]["region_name"]
    if told.get("anon"):
        found["s3.anonymous"] = "true"
    return found
