"""sqlglot's tree → declarations of streams and tables."""

from __future__ import annotations

from sqlglot import exp

from aspen.errors import Position
from aspen.model.schema import Column, Relation, SourceKind, Type
from aspen.streamsql.ast import CreateRelation
from aspen.streamsql.dialect_statements import DeclaredRelation
from aspen.streamsql.errors import BadDeclaration, Unsupported
from aspen.streamsql.spans import Spans
from aspen.streamsql.sql_types import SQL_TYPES
from aspen.streamsql.translate_expr import word


def declared(tree: DeclaredRelation, spans: Spans) -> CreateRelation:
    """Translate `CREATE STREAM | TABLE`.

    Raises:
        BadDeclaration: a key that is no column, two columns of one name, a device for a table.
    """
    at = spans.of(tree.this)
    name = word(tree.this)
    stream = tree.args["kind"] == "STREAM"
    keys = [word(key) for key in tree.args.get("keys") or ()]
    keys += [word(part.this) for part in tree.args["columns"] if part.args.get("key")]
    columns = []
    for part in tree.args["columns"]:
        column = word(part.this)
        filled = bool(part.args.get("filled")) or column in keys
        kind = type_of(part.args["kind"], spans.of(part.this))
        columns.append(Column(column, kind, part.args.get("unit") or "", not filled))
    names = [column.name for column in columns]
    wrong = [key for key in keys if key not in names] or [n for n in names if names.count(n) > 1]
    if wrong:
        raise BadDeclaration(
            f"{wrong[0]!r} is no column of {name}, or two of them",
            position=at,
            found=wrong[0],
            exists=names,
            attempt="name each column once, and keys among them",
        )
    device = tree.args.get("device")
    period_s = tree.args.get("period_s")
    if not stream and (device is not None or period_s is not None):
        raise BadDeclaration(
            f"{name} is a table: only a stream comes from devices",
            position=at,
            found=name,
            attempt=f"CREATE STREAM {name} (…)",
        )
    network = tree.args.get("network")
    _check_network(network, name, columns, keys, spans, stream=stream)
    relation = Relation(
        name,
        tuple(columns),
        SourceKind.STREAM if stream else SourceKind.TABLE,
        tuple(keys),
        deletable=not tree.args.get("static"),
        device=word(device) if device is not None else "",
        rate_hz=0.0 if period_s is None else 1.0 / period_s,
        comment=tree.args.get("comment") or "",
        ttl_s=tree.args.get("ttl_s") or 0.0,
        network=word(network) if network is not None else "",
    )
    return CreateRelation(relation, at)


def _check_network(
    network: exp.Expr | None,
    name: str,
    columns: list[Column],
    keys: list[str],
    spans: Spans,
    *,
    stream: bool,
) -> None:
    if network is None:
        return
    fit = [c.name for c in columns if c.name not in keys and c.type in (Type.TEXT, Type.INT)]
    if stream or len(keys) != 1 or word(network) not in fit:
        raise BadDeclaration(
            f"{word(network)!r} cannot say which network a place of {name} lies in",
            position=spans.of(network),
            found=word(network),
            exists=fit,
            attempt="a table with a KEY of one column, the place, and a TEXT or INT column beside",
        )


def type_of(tree: exp.Expr, at: Position) -> Type:
    """Returns the type SQL's name means.

    Args:
        at: where it is asked for.

    Raises:
        Unsupported: no type of ours.
    """
    spelt = str(getattr(tree.this, "name", tree.this)).upper()
    if spelt not in SQL_TYPES:
        raise Unsupported(
            f"there is no type {spelt}",
            position=at,
            found=spelt,
            exists=("FLOAT", "INT", "TEXT", "BOOL"),
            attempt="INTEGER, REAL, VARCHAR or BOOLEAN",
        )
    return SQL_TYPES[spelt]
