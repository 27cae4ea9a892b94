"""Declarations of streams and tables: what CREATE says → a relation."""

from __future__ import annotations

from sqlglot import exp

from aspen.model.schema import Column, Relation, SourceKind, Type
from aspen.streamsql.dialect_statements import DeclaredRelation
from aspen.streamsql.errors import BadDeclaration
from aspen.streamsql.positions import at, whole
from aspen.streamsql.sql_types import type_of


def declared(tree: DeclaredRelation) -> Relation:
    """Returns the relation that `CREATE STREAM | TABLE` declares.

    Raises:
        BadDeclaration: a key that is no column, two columns of one name, a device for a table.
    """
    here = whole(tree.this)
    name = tree.this.name
    stream = tree.args["kind"] == "STREAM"
    keys = [key.name for key in tree.args.get("keys") or ()]
    keys += [part.this.name for part in tree.args["columns"] if part.args.get("key")]
    columns = []
    for part in tree.args["columns"]:
        column = part.this.name
        filled = bool(part.args.get("filled")) or column in keys
        kind = type_of(part.args["kind"], at(part.this))
        columns.append(Column(column, kind, part.args.get("unit") or "", not filled))
    names = [column.name for column in columns]
    wrong = [key for key in keys if key not in names] or [n for n in names if names.count(n) > 1]
    if wrong:
        raise BadDeclaration(
            f"{wrong[0]!r} is no column of {name}, or two of them",
            position=here,
            found=wrong[0],
            exists=names,
            attempt="name each column once, and keys among them",
        )
    device = tree.args.get("device")
    period_s = tree.args.get("period_s")
    if not stream and (device is not None or period_s is not None):
        raise BadDeclaration(
            f"{name} is a table: only a stream comes from devices",
            position=here,
            found=name,
            attempt=f"CREATE STREAM {name} (…)",
        )
    network = tree.args.get("network")
    _check_network(network, name, columns, keys, stream=stream)
    return Relation(
        name,
        tuple(columns),
        SourceKind.STREAM if stream else SourceKind.TABLE,
        tuple(keys),
        deletable=not tree.args.get("static"),
        device=device.name if device is not None else "",
        rate_hz=0.0 if period_s is None else 1.0 / period_s,
        comment=tree.args.get("comment") or "",
        ttl_s=tree.args.get("ttl_s") or 0.0,
        network=network.name if network is not None else "",
    )


def _check_network(
    network: exp.Expr | None,
    name: str,
    columns: list[Column],
    keys: list[str],
    *,
    stream: bool,
) -> None:
    if network is None:
        return
    fit = [c.name for c in columns if c.name not in keys and c.type in (Type.TEXT, Type.INT)]
    if stream or len(keys) != 1 or network.name not in fit:
        raise BadDeclaration(
            f"{network.name!r} cannot say which network a node of {name} lies in",
            position=at(network),
            found=network.name,
            exists=fit,
            attempt="a table with a KEY of one column, the node, and a TEXT or INT column beside",
        )
