"""Lower: selections over high-rate streams as Spark's own operators, in front of the lanes.

    {"k":"d","t":5.0,"c":[["reading",1,7,21.4],["reading",1,8,75.0],["door",1,"d1","open"]]}
                                 │ celsius > 60
    {"k":"d","t":5.0,"c":[                     ["reading",1,8,75.0],["door",1,"d1","open"]]}

Law:        a lane fed with lowered entries tells the same changes as one fed with the log's.
Guard:      only what surely is a well-formed row that nobody wants is dropped; a malformed one is
            the lane's to refuse. Entries before `from_position` are left alone, and so are all
            entries from the first one on that registers or declares something: a lane may replay
            either form, since both bring it to the same state.
Source:     own.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from aspen.algebra.expr import Col, Const, Expr, IsNull, Not, Op, columns_in
from aspen.algebra.lowerable import LOWER_FROM_HZ, Lowered, lowerable
from aspen.algebra.plan import relations_of
from aspen.algebra.read import read_plan
from aspen.errors import AspenError
from aspen.log.base import Base
from aspen.log.entry import BadEntry, Declare, Entry, Register, Unregister, decode
from aspen.log.redis_log import RedisLog
from aspen.model.schema import Column as RelationColumn
from aspen.model.schema import Relation, Type
from aspen.runtime.own_relations import OWN_RELATIONS
from aspen.spark.log_source import CONTROL

# A text with a quote or a backslash in it is not recognised, and so not dropped.
_SHAPES = dict.fromkeys(Type, r'"[^"\\]*+"') | {
    Type.INT: r"-?\d{1,18}+",
    Type.FLOAT: r"-?\d{1,18}+(?:\.\d++)?+(?:[eE][-+]?\d{1,3}+)?+",
    Type.BOOL: "true|false",
}
_SPARK_TYPES = {Type.INT: "BIGINT", Type.FLOAT: "DOUBLE", Type.BOOL: "BOOLEAN"}
_HEAD = r'^\{"k":"d","t":[-+.\deE]++,"c":\[\['
_TAIL = "]]}"
_BETWEEN = "],["
_READ_AT_ONCE = 5_000


def lowered_now(log: RedisLog, from_hz: float = LOWER_FROM_HZ) -> tuple[tuple[Lowered, ...], int]:
    """Returns what can be lowered behind what a log holds, and from which position on."""
    base, head = log.base(), log.head()
    relations: dict[str, Relation] = {}
    plans: dict[str, str] = {}
    for entry in _control_of(base):
        _take(entry, relations, plans)
    for first in range(base.position, head, _READ_AT_ONCE):
        for raw in log.read_raw(first, min(head, first + _READ_AT_ONCE)):
            if raw.data.startswith(CONTROL):
                with suppress(BadEntry):  # lanes leave it out, too
                    _take(decode(raw.data), relations, plans)
    try:
        read = [read_plan(text) for text in plans.values()]
    except AspenError:
        return (), head  # what it reads is unknown
    # A view may outlive the one it reads; its own plan does not tell what it reads then.
    known = {*plans, *relations, *OWN_RELATIONS}
    if any(relations_of(plan) - known for plan in read):
        return (), head
    return lowerable(read, relations, from_hz), head


def lower(source: DataFrame, lowered: Sequence[Lowered]) -> DataFrame:
    """Make selections on the rows of a log source, where its column `lower` says so.

    Args:
        source: has `entry` and `lower`; all other columns stay.
    """
    if not lowered:
        return source.drop("lower")
    # The source gives one partition; whatever cores there are take part in selecting.
    source = source.repartition(source.sparkSession.sparkContext.defaultParallelism)
    entry = f.col("entry")
    for one in lowered:
        mentioned = f.instr(entry.cast("string"), f'["{one.relation.name}",') > 0
        entry = f.when(f.col("lower") & mentioned, _selected(entry, one)).otherwise(entry)
    return source.withColumn("entry", entry).drop("lower")


def _control_of(base: Base) -> Iterator[Entry]:
    """Returns the declarations and registrations in a lane's snapshot."""
    if base.position:
        body = json.loads(zlib.decompress(base.state))
        for text in (*body["relations"], *(view[0] for view in body["views"])):
            yield decode(text.encode())


def _take(entry: Entry, relations: dict[str, Relation], plans: dict[str, str]) -> None:
    match entry:
        case Declare(_, relation):
            relations[relation.name] = relation
        case Register(_, view, plan_text):
            plans[view] = plan_text
        case Unregister(_, view):
            plans.pop(view, None)
        case _:
            pass


def _selected(entry: Column, lowered: Lowered) -> Column:
    """Returns an entry without the rows nobody wants; one that is spelt otherwise as it is.

    The text is cut between changes and put together again. A text value with `],[` in it is cut,
    too; its parts look like no row, since a quote within a text is written with a backslash.
    """
    text = entry.cast("string")
    head = f.regexp_extract(text, _HEAD, 0)
    inner = f.substr(text, f.length(head) + 1, f.length(text) - f.length(head) - len(_TAIL))
    kept = f.filter(f.split(inner, re.escape(_BETWEEN)), lambda part: _wanted(part, lowered))
    begin = f.substr(head, f.lit(1), f.length(head) - 1)
    rows = f.concat(begin, f.lit("["), f.array_join(kept, _BETWEEN), f.lit(_TAIL))
    made = f.when(f.size(kept) == 0, f.concat(begin, f.lit("]}"))).otherwise(rows)
    whole = (head != "") & text.endswith(_TAIL)
    return f.when(whole, made.cast("binary")).otherwise(entry)


def _wanted(change: Column, lowered: Lowered) -> Column:
    """Say whether a change must reach the lanes: it may be no good row, or it passes."""
    columns = lowered.relation.columns
    nulls = ["null|" if column.nullable else "" for column in columns]
    shapes = ",".join(f"({n}{_SHAPES[c.type.family]})" for n, c in zip(nulls, columns, strict=True))
    pattern = f'^"{re.escape(lowered.relation.name)}",1,{shapes}$'
    read = columns_in(lowered.predicate)
    found = {
        column.name: f.regexp_extract(change, pattern, group)
        for group, column in enumerate(columns, start=1)
        if column.name in read
    }
    any_of_them = next(iter(found.values()))
    values = {
        column.name: _value(found[column.name], column) for column in columns if column.name in read
    }
    return (any_of_them == "") | f.coalesce(_column(lowered.predicate, values), f.lit(False))


def _value(found: Column, column: RelationColumn) -> Column:
    """Read a value that has its column's shape."""
    if column.type.python is str:
        bare = f.substr(found, f.lit(2), f.length(found) - 2)
        return f.when(found != "null", bare)
    return f.when(~found.isin("null", ""), found.cast(_SPARK_TYPES[column.type]))


def _column(expr: Expr, by_name: dict[str, Column]) -> Column:
    """Returns an expression that `lowerable` let through as Spark's."""
    match expr:
        case Col(name):
            return by_name[name]
        case Const(value):
            return f.lit(value)
        case Not(inner):
            return ~_column(inner, by_name)
        case IsNull(inner):
            return _column(inner, by_name).isNull()
        case Op(symbol, left, right):
            return _OPERATORS[symbol](_column(left, by_name), _column(right, by_name))
        case _:
            raise AssertionError(type(expr).__name__)  # pragma: no cover - lowerable refuses it


_OPERATORS: dict[str, Callable[[Column, Column], Column]] = {
    "AND": lambda left, right: left & right,
    "OR": lambda left, right: left | right,
    "=": lambda left, right: left == right,
    "<>": lambda left, right: left != right,
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
}
