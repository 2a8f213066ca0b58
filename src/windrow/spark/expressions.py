"""Row expressions as Spark evaluates them, with NULL for what fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException, ParseException, PySparkException
from pyspark.logger import PySparkLogger
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_type
from pyspark.sql.types import DataType as SparkType
from pyspark.sql.types import IntegralType, NullType, NumericType
from sqlglot import exp

from windrow.errors import QueryError
from windrow.language import deep, expression_sql, parse_expression
from windrow.language.spelling import closest
from windrow.plan.nodes.aggregate_rules import AGGREGATE_RULES
from windrow.plan.user_aggregates import wrong_result
from windrow.spark.lambda_types import probe, within
from windrow.spark.long_chains import fold_long_chains

_TRIED: dict[type[exp.Expr], str] = {exp.Add: "TRY_ADD", exp.Sub: "TRY_SUBTRACT", exp.Mul: "TRY_MULTIPLY"}
_EPOCHS = {"timestamp_seconds": 1_000_000, "timestamp_millis": 1_000}
"""What Spark throws for, ANSI or not, where the time is too far away, and how many microseconds its unit has."""


@deep
def guarded(text: str, frame: DataFrame) -> str:
    """The same expression over the columns of `frame`, with NULL for what does not fit.

    Without ANSI, Spark gives NULL for a division by zero and for a text that is no number. What is left are whole
    numbers, which would wrap around: these are tried. Trying what cannot fail would cost a third of the speed.
    """
    tree = exp.paren(parse_expression(text), copy=False)
    asked: dict[str, SparkType] = {}

    def type_of(node: exp.Expr) -> SparkType:
        probed = probe(node)
        if probed is None:
            return NullType()
        if probed[0] not in asked:
            asked[probed[0]] = within(frame.select(F.expr(probed[0])).schema[0].dataType, probed[1])
        return asked[probed[0]]

    fold_long_chains(tree, type_of)
    risky = [node for node in tree.walk() if _may_not_fit(node, type_of)]
    for node in reversed(risky):  # what is inside comes first: a node that has been replaced is not looked into
        node.replace(_tried(node))
    return expression_sql(tree.this)


def type_in(node: exp.Expr, frame: DataFrame) -> SparkType:
    """The type of `node`, which may stand inside of a lambda, over the columns of `frame`."""
    asked = probe(node)
    if asked is None:
        return NullType()
    text, depth = asked
    return within(frame.select(F.expr(text)).schema[0].dataType, depth)


def _may_not_fit(node: exp.Expr, type_of: Callable[[exp.Expr], SparkType]) -> bool:
    if isinstance(node, exp.Cast):
        return isinstance(type_of(node.this), NumericType)
    if _is_epoch(node):
        return isinstance(type_of(node.expressions[0]), IntegralType)
    return type(node) in _TRIED and isinstance(type_of(node), IntegralType)


def _tried(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.Cast):
        return exp.TryCast(this=node.this, to=node.args["to"], safe=True)
    if _is_epoch(node):
        factors = [exp.cast(node.expressions[0], "BIGINT"), exp.Literal.number(_EPOCHS[node.name.lower()])]
        return exp.func("TIMESTAMP_MICROS", exp.Anonymous(this="TRY_MULTIPLY", expressions=factors))
    return exp.Anonymous(this=_TRIED[type(node)], expressions=[node.this, node.expression])


def _is_epoch(node: exp.Expr) -> bool:
    return isinstance(node, exp.Anonymous) and node.name.lower() in _EPOCHS and len(node.expressions) == 1


def result_type(name: str, returns: object) -> pa.DataType:
    """The type of what the aggregate `name` returns, given as Spark's type or as text."""
    if not isinstance(returns, str | SparkType):
        raise wrong_result(name, returns, "it is no type")
    try:
        with quiet_analysis():
            return to_arrow_type(SparkType.fromDDL(returns) if isinstance(returns, str) else returns, timezone="UTC")
    except PySparkException:  # from the parser, or from who looks for Arrow's type
        raise wrong_result(name, returns, "there is no such type, or Arrow has none for it") from None


class SparkEngine:
    """Asks Spark's analyser for the types of expressions; nothing runs."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._frames: dict[pa.Schema, DataFrame] = {}
        self._known: dict[tuple[str, pa.Schema], pa.DataType] = {}

    def type_of(self, expression: exp.Expr, schema: pa.Schema) -> pa.DataType:
        """The type of an expression over columns of `schema`.

        A thousand queries over one stream ask for few expressions, and each answer takes milliseconds: it is kept,
        except for what calls a function that the user may register anew.
        """
        asked = (expression_sql(expression), schema)
        if asked not in self._known:
            found = self._asked(*asked)
            if expression.find(exp.Anonymous) is not None:
                return found
            self._known[asked] = found
        return self._known[asked]

    def _asked(self, text: str, schema: pa.Schema) -> pa.DataType:
        if schema not in self._frames:
            self._frames[schema] = self._spark.createDataFrame([], from_arrow_schema(schema))
        with quiet_analysis():
            return self._analysed(text, self._frames[schema])

    def _analysed(self, text: str, frame: DataFrame) -> pa.DataType:
        try:
            field = frame.select(F.expr(guarded(text, frame))).schema[0]
        except (AnalysisException, ParseException) as error:
            raise _as_query_error(error) from None
        except Py4JJavaError as error:
            if "StackOverflowError" in str(error.java_exception) or "Max iterations" in str(error.java_exception):
                raise _too_deep() from None
            raise
        return to_arrow_type(field.dataType, timezone="UTC")


@contextmanager
def quiet_analysis() -> Iterator[None]:
    """PySpark logs every failed analysis with its whole stack; a user's mistake is one sentence."""
    logger = PySparkLogger.getLogger("SQLQueryContextLogger")  # a plain logger of this name would break PySpark's own
    before, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = before


def _too_deep() -> QueryError:
    hint = "compute a part of it in a sub-query, or give Spark's driver more stack: -Xss16m"
    return QueryError("this is nested too deeply for Spark", hint=hint)


def _as_query_error(error: AnalysisException | ParseException) -> QueryError:
    """Spark's complaint in one sentence."""
    condition = error.getCondition() or ""
    if condition == "FAILED_TO_PARSE_TOO_COMPLEX":
        return _too_deep()
    parameters = error.getMessageParameters() or {}
    if condition == "UNRESOLVED_ROUTINE":
        name = parameters.get("routineName", "").strip("`").split(".")[-1]
        meant = closest(name, [*AGGREGATE_RULES, *exp.FUNCTION_BY_NAME])
        way_out = f"did you mean {meant}?" if meant else "Spark's functions, registered UDFs and aggregates can be used"
        return QueryError(f"unknown function {name!r}", hint=way_out)
    if condition.startswith("WRONG_NUM_ARGS"):
        name, expected, given = (parameters.get(key, "") for key in ("functionName", "expectedNum", "actualNum"))
        return QueryError(f"{name.strip('`') or 'the function'} takes {expected} arguments, not {given}")
    if condition.startswith("DATATYPE_MISMATCH"):
        found = parameters.get("inputType") or " and ".join(
            filter(None, (parameters.get("left"), parameters.get("right")))
        )
        wanted = parameters.get("requiredType")
        message = f"the types do not fit: {found}".replace('"', "")
        return QueryError(
            message + (f", and {wanted} is needed".replace('"', "") if wanted else ""), hint="CAST(... AS ...)"
        )
    return QueryError(str(error).split("]", 1)[-1].strip().split(" SQLSTATE")[0].split("\n")[0])
