"""How a command ends: 0 when all is well, 1 when a job died, 2 when the user has something to mend."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from windrow.errors import JobError, StoppedQueriesError, WindrowError

DIED, MISTAKEN, INTERRUPTED = 1, 2, 130


@contextmanager
def user_errors() -> Iterator[None]:
    """Print the errors that a user can cause as they are, without a trace from inside, and exit."""
    log = logging.getLogger()
    log.addFilter(_not_py4j)
    try:
        yield
    except StoppedQueriesError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(DIED) from None
    except JobError as error:
        typer.echo(f"the job has died: {error}", err=True)
        raise typer.Exit(DIED) from None
    except WindrowError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(MISTAKEN) from None
    except KeyboardInterrupt:
        typer.echo("stopped at once", err=True)
        # Spark would be waited for at a normal exit; left alone, it sees that we are gone and ends too
        sys.stdout.flush()
        os._exit(INTERRUPTED)
    finally:
        log.removeFilter(_not_py4j)


def _not_py4j(record: logging.LogRecord) -> bool:
    """py4j logs a trace when Ctrl-C comes while Spark is asked something: no fault of anybody's."""
    return "KeyboardInterrupt while sending command" not in record.getMessage()
