"""What CREATE SINK may say: a sink that could take no rows, or would take those of another, is refused at once."""

from __future__ import annotations

import os
from collections.abc import Mapping

from windrow.application.check_options import check_format, check_keys, refuse_messages
from windrow.application.declaring import Declaring
from windrow.application.script_text import ScriptText
from windrow.current.limits import read_limits
from windrow.language import CreateSink
from windrow.places.addresses import FILE, local_path, plain_place, scheme_of
from windrow.plan.kafka_options import KAFKA
from windrow.plan.sink import (
    DELTA,
    FORMATS,
    HOLDS_ANSWER,
    HOLDS_CHANGES,
    KEEP_WHAT,
    LAKES,
    OWN_FORMATS,
    Sink,
    wrong_expiry,
    wrong_roll,
)
from windrow.plan.topic_options import MESSAGE, topic_of

Places = dict[tuple[str, str], str]
"""By place, the first sink that writes there."""


def check_sink(
    script: ScriptText, session: Declaring, sink: CreateSink, others: Mapping[str, CreateSink], places: Places
) -> None:
    """Refuse a sink that could not take rows, or not beside the `others`, which write to `places`; its own is added."""
    if sink.name in others:
        raise script.error(f"two sinks are named {sink.name!r}", sink.name_span, "give one of them another name")
    if sink.format.lower() == KAFKA:
        from windrow.spark.sinks.topic_broker import check_topic  # which loads more than most scripts need

        with script.placed(sink.name_span, sink):
            check_topic(topic_of(dict(sink_of(sink).options), rejected=sink.rejected))
    else:
        refuse_messages(script, sink)
        check_keys(script, sink)
        _check_keeping(script, sink)
    if sink.format in FORMATS and "path" not in dict(sink.options):
        way_out = "OPTIONS (path 'out/results')"
        raise script.error(f"a sink of {sink.format} files needs a path", sink.name_span, way_out)
    if sink.format == DELTA and "path" not in dict(sink.options):
        raise script.error("a sink of delta needs a path", sink.name_span, "OPTIONS (path 'lake/results')")
    if sink.format not in (*OWN_FORMATS, *LAKES, KAFKA):
        check_format(script, session, sink)
    _check_folder(script, sink, places)
    for option, refused in (
        ("roll", wrong_roll(Sink(sink.format, sink.options))),
        ("expire", wrong_expiry(Sink(sink.format, sink.options))),
    ):
        if refused is not None:
            raise script.error(refused[0], script.written(option, sink), refused[1])
    if sink.rejected and Sink(sink.format, sink.options).holds != HOLDS_CHANGES:
        message = "rejected events have no answer that a sink could hold"
        raise script.error(message, script.written(HOLDS_ANSWER, sink), "leave out holds")


def _check_keeping(script: ScriptText, sink: CreateSink) -> None:
    """What is kept of answers is known, and rejected events have none."""
    wanted = Sink(sink.format, sink.options)
    if wanted.wrong_keep is not None:
        raise script.error(KEEP_WHAT.format(wanted.wrong_keep), script.written("keep", sink), "keep 'answer'")
    if sink.rejected and wanted.keeps_answer:
        message = "rejected events have no answer that could be kept"
        raise script.error(message, script.written("answer", sink), "files of json keep them whole")
    with script.placed(script.written("keep", sink)):
        read_limits(dict(sink.options))


def _check_folder(script: ScriptText, sink: CreateSink, places: Places) -> None:
    """A sink of files needs a folder of its own: a reader could not tell its rows from another's."""
    path = dict(sink.options).get("path")
    if path is None:
        return
    written = script.written(path, sink)
    with script.placed(written):
        place = plain_place(path)
    if sink.format in FORMATS:
        if scheme_of(path) == FILE and os.path.isfile(local_path(path)):
            raise script.error(f"{path!r} is a file, and results go into a folder", written, "name a folder")
        if place in places:
            message = f"sink {places[place]!r} writes to {path!r} already"
            raise script.error(message, written, "give each sink a folder of its own")
    places.setdefault(place, sink.name)


def sink_of(declared: CreateSink) -> Sink:
    """Where rows go; what its messages are is one more option."""
    message = () if declared.message is None else ((MESSAGE, declared.message),)
    return Sink(declared.format, (*declared.options, *message, *declared.message_options))
