"""A script as a running application: its statements, checked and declared on a session or on a draft.

application    A script as a running application: its streams, tables, sinks and queries
check_options  What CREATE STREAM, TABLE and SINK may say behind USING: a format that there is, and options that it
               knows
check_sinks    What CREATE SINK may say: a sink that could take no rows, or would take those of another, is refused at
               once
declaring      Where the statements of a script are declared, as a contract: a session, or a draft, which has no Spark
script_text    The text of a script, and where its mistakes stand
"""

from windrow.application.application import Application

__all__ = ["Application"]
