"""The options of the formats that are known well enough to tell a misspelt one. Others take whatever they are given."""

from __future__ import annotations

from collections.abc import Iterable

from windrow.language.spelling import closest

_FILES = (
    *("path", "pathGlobFilter", "recursiveFileLookup", "modifiedBefore", "modifiedAfter", "basePath", "timeZone"),
    *("ignoreCorruptFiles", "ignoreMissingFiles", "ignoreInvalidPartitionPaths", "compression", "codec"),
)
_STREAMED = (
    *("maxFilesPerTrigger", "maxBytesPerTrigger", "maxCachedFiles", "discardCachedInputRatio", "latestFirst"),
    *("maxFileAge", "fileNameOnly", "cleanSource", "sourceArchiveDir"),
)
_WRITTEN = ("holds", "partitionBy", "roll", "maxRecordsPerFile", "partitionOverwriteMode")
_KEPT = ("keep", "keepRows", "keepMB", "keepBatches")
_TEXTS = (
    *("encoding", "charset", "lineSep", "locale", "mode", "columnNameOfCorruptRecord", "multiLine", "samplingRatio"),
    *("dateFormat", "timestampFormat", "timestampNTZFormat", "timeFormat", "enableDateTimeParsingFallback"),
    *("singleVariantColumn",),
)
_OWN = {
    "parquet": ("mergeSchema", "datetimeRebaseMode", "int96RebaseMode"),
    "orc": ("mergeSchema",),
    "text": ("wholetext", "encoding", "lineSep"),
    "csv": (
        *_TEXTS,
        *("sep", "delimiter", "quote", "quoteAll", "escape", "escapeQuotes", "comment", "header", "inferSchema"),
        *("preferDate", "enforceSchema", "ignoreLeadingWhiteSpace", "ignoreTrailingWhiteSpace", "nullValue"),
        *("nanValue", "positiveInf", "negativeInf", "emptyValue", "maxColumns", "maxCharsPerColumn", "columnPruning"),
        *("charToEscapeQuoteEscaping", "unescapedQuoteHandling", "inputBufferSize", "extension"),
        "maxMalformedLogPerPartition",
    ),
    "json": (
        *_TEXTS,
        *("primitivesAsString", "prefersDecimal", "allowComments", "allowUnquotedFieldNames", "allowSingleQuotes"),
        *("allowNumericLeadingZeros", "allowBackslashEscapingAnyCharacter", "allowUnquotedControlChars"),
        *("allowNonNumericNumbers", "dropFieldIfAllNull", "ignoreNullFields", "writeNonAsciiCharacterAsCodePoint"),
        *("maxNestingDepth", "maxNumLen", "maxStringLen", "pretty", "inferTimestamp", "useUnsafeRow"),
    ),
    "avro": (
        *("avroSchema", "avroSchemaUrl", "recordName", "recordNamespace", "ignoreExtension", "mode", "mergeSchema"),
        *("datetimeRebaseMode", "positionalFieldMatching", "enableStableIdentifiersForUnionType"),
        *("stableIdentifierPrefixForUnionType", "recursiveFieldMaxDepth"),
    ),
}
_OTHERS = {
    "console": ("numRows", "truncate"),
    "memory": (),
    "answers": (),
    "delta": (
        *("path", "partitionBy", "compression", "holds", "key", "roll", "expire"),
        *("startingVersion", "maxFilesPerTrigger", "maxBytesPerTrigger"),
    ),
    "iceberg": (
        *("catalog", "table", "path", "partitionBy", "compression", "holds", "key", "roll", "expire"),
        *("uri", "warehouse", "type"),
    ),
    "rate": ("rowsPerSecond", "rampUpTime", "numPartitions"),
    "rate-micro-batch": ("rowsPerBatch", "numPartitions", "startTimestamp", "advanceMillisPerBatch"),
}


def known_options(format: str, *, sink: bool = False) -> tuple[str, ...] | None:
    """The options that `format` takes, or None where that is not known."""
    name = format.lower()
    if name in _OWN:
        return (*_FILES, *((*_WRITTEN, *_KEPT) if sink else _STREAMED), *_OWN[name])
    found = _OTHERS.get(name)
    return found if found is None or not sink else (*found, "holds", *_KEPT)


def unknown_option(format: str, options: Iterable[str], *, sink: bool = False) -> tuple[str, str, str] | None:
    """An option that `format` does not take, what is wrong, and the way out; None if there is none.

    One that is like none that is known passes: other versions and formats below may have more. A key with dots is for
    these: `kafka.bootstrap.servers`, `parquet.bloom.filter.enabled`.

    >>> unknown_option("csv", ["path", "HEADER", "delimeter"])
    ('delimeter', "csv has no option 'delimeter'", 'did you mean delimiter?')
    >>> unknown_option("my.own.source", ["whatever"])
    """
    known = known_options(format, sink=sink)
    if known is None:
        return None
    spelt = {name.upper(): name for name in known}
    for key in options:
        if "." not in key and key.upper() not in spelt:
            meant = closest(key, spelt)
            if meant is not None:
                return key, f"{format} has no option {key!r}", f"did you mean {spelt[meant]}?"
    return None
