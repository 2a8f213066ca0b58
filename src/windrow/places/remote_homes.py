"""Places elsewhere by their URIs, with the credentials that Spark's own `fs.*` settings give."""

from __future__ import annotations

import getpass
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from importlib.util import find_spec
from typing import Any

from windrow.errors import SettingsError
from windrow.places.addresses import scheme_of
from windrow.places.home import Home
from windrow.places.object_home import ObjectHome

Settings = Mapping[str, str]
"""Settings of Hadoop's file systems, by the names that Spark has for them after `spark.hadoop.`."""

SCHEMES = ("file", "hdfs", "s3a", "s3", "gs", "abfss", "abfs")
_PACKAGES = {"s3": ("s3fs", "s3"), "gs": ("gcsfs", "gcs"), "abfs": ("adlfs", "azure"), "hdfs": ("requests", "hdfs")}
_WEB_PORT, _SECURE_PORT = 9870, 9871


def remote_home(address: str, settings: Settings) -> tuple[Home, str]:
    """The home of a URI, and the path there."""
    scheme = scheme_of(address)
    protocol = {"s3a": "s3", "abfss": "abfs"}.get(scheme, scheme)
    if protocol not in _PACKAGES:
        raise SettingsError(f"{address}: {scheme}:// is no place that Windrow knows\nhint: {', '.join(SCHEMES)}")
    package, extra = _PACKAGES[protocol]
    if find_spec("fsspec") is None or find_spec(package) is None:
        raise SettingsError(
            f"{address} is reached by the Python package {package}, which is not installed"
            f"\nhint: pip install 'windrow[{extra}]'"
        )
    authority, _, key = address.split("://", 1)[1].partition("/")
    if not authority:
        what = "name node" if protocol == "hdfs" else "bucket"
        raise SettingsError(f"{address} names no {what}\nhint: {scheme}://{what.replace(' ', '')}/folder")
    key = key.strip("/")
    match protocol:
        case "hdfs":
            return _hdfs(authority, settings), f"/{key}"
        case "abfs":
            container, _, host = authority.partition("@")
            if not host:
                raise SettingsError(
                    f"{address} names no account\nhint: abfss://container@account.dfs.core.windows.net/folder"
                )
            home = ObjectHome("abfs", scheme, scheme, json.dumps(_azure(host, settings)), host)
            return home, f"{container}/{key}".rstrip("/")
        case "gs":
            return ObjectHome("gs", scheme, scheme, json.dumps(_google(settings))), f"{authority}/{key}".rstrip("/")
    spark_scheme = "s3a" if "fs.s3.impl" not in settings else scheme
    home = ObjectHome("s3", scheme, spark_scheme, json.dumps(_s3(authority, settings)))
    return home, f"{authority}/{key}".rstrip("/")


def _s3(bucket: str, settings: Settings) -> dict[str, Any]:
    """Options of s3fs. What no setting says is boto's to find: variables, files, the role of the machine."""

    def said(name: str) -> str | None:
        return settings.get(f"fs.s3a.bucket.{bucket}.{name}", settings.get(f"fs.s3a.{name}")) or None

    waits = {"connect_timeout": 5, "read_timeout": 60, "retries": {"max_attempts": 3}}
    options: dict[str, Any] = {"use_listings_cache": False, "config_kwargs": dict(waits)}
    for option, name in (("key", "access.key"), ("secret", "secret.key"), ("token", "session.token")):
        if said(name) is not None:
            options[option] = said(name)
    if "Anonymous" in (said("aws.credentials.provider") or ""):
        options["anon"] = True
    endpoint, region = said("endpoint"), said("endpoint.region")
    if endpoint is not None:
        secure = (said("connection.ssl.enabled") or "true").lower() == "true"
        options["endpoint_url"] = endpoint if "://" in endpoint else f"{'https' if secure else 'http'}://{endpoint}"
    if region is not None:
        options["client_kwargs"] = {"region_name": region}
    if (said("path.style.access") or "").lower() == "true":
        options["config_kwargs"] |= {"s3": {"addressing_style": "path"}}
    return options


def _google(settings: Settings) -> dict[str, Any]:
    """Options of gcsfs; without a key file Google's own credentials of the environment are found."""
    options: dict[str, Any] = {"use_listings_cache": False}
    for name in ("fs.gs.auth.service.account.json.keyfile", "google.cloud.auth.service.account.json.keyfile"):
        if settings.get(name):
            options["token"] = settings[name]
    if settings.get("fs.gs.auth.type", "").upper() == "UNAUTHENTICATED":
        options["token"] = "anon"
    if settings.get("fs.gs.project.id"):
        options["project"] = settings["fs.gs.project.id"]
    if settings.get("fs.gs.storage.root.url"):
        options["endpoint_url"] = settings["fs.gs.storage.root.url"].rstrip("/")
    return options


def _azure(host: str, settings: Settings) -> dict[str, Any]:
    """Options of adlfs, which are those of the account or of all accounts."""

    def said(name: str) -> str | None:
        return settings.get(f"{name}.{host}", settings.get(name)) or None

    options: dict[str, Any] = {"account_name": host.partition(".")[0], "use_listings_cache": False}
    named = {
        "account_key": "fs.azure.account.key",
        "sas_token": "fs.azure.sas.fixed.token",
        "client_id": "fs.azure.account.oauth2.client.id",
        "client_secret": "fs.azure.account.oauth2.client.secret",
    }
    options |= {option: value for option, name in named.items() if (value := said(name)) is not None}
    endpoint = said("fs.azure.account.oauth2.client.endpoint")
    if endpoint is not None:  # https://login.microsoftonline.com/<tenant>/oauth2/token
        with suppress(IndexError):
            options["tenant_id"] = endpoint.split("://", 1)[-1].split("/")[1]
    return options


def _hdfs(authority: str, settings: Settings) -> Home:
    """HDFS by the addresses that its own settings have for HTTP; without them, the port that it has by itself."""
    from windrow.places.hdfs_home import HdfsHome

    https = settings.get("dfs.http.policy", "").upper() == "HTTPS_ONLY"
    kind, port = ("https", _SECURE_PORT) if https else ("http", _WEB_PORT)
    service, host = f"dfs.namenode.{kind}-address", authority.partition(":")[0]
    named = [name.strip() for name in settings.get(f"dfs.ha.namenodes.{authority}", "").split(",") if name.strip()]
    known = [settings.get(f"{service}.{authority}.{name}", "") for name in named] or [settings.get(service, "")]
    nodes = []
    for address in known:
        there, _, own = address.rpartition(":")
        nodes.append((there if there not in ("", "0.0.0.0") else host, int(own) if own.isdigit() else port))
    kerberos = settings.get("hadoop.security.authentication", "").lower() == "kerberos"
    user = None if kerberos else os.environ.get("HADOOP_USER_NAME") or getpass.getuser()
    return HdfsHome(authority, tuple(nodes), user, https, kerberos)
