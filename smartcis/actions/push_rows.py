"""Push rows: a gateway hands over rows of a stream that no sensor of ours stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aspen.model.schema import Relation, Row
from smartcis import composition
from smartcis.access.owner import Owner
from smartcis.actions.support.pushing import digest_of_call, pushing_sources
from smartcis.catalog import CATALOG
from smartcis.errors import Refused, unknown
from smartcis.models import Source
from smartcis.sources.memory import calls_of
from smartcis.sources.sink import SourceSink
from smartcis.wrappers.errors import BadRow
from smartcis.wrappers.protocol import StreamRows
from smartcis.wrappers.push import ROWS

ROWS_AT_ONCE = 5_000


def push_rows(
    source_id: str, relation: str, rows: Sequence[Any], owner: Owner, *, key: str = ""
) -> int:
    """Appends rows to the log, all or none.

    Args:
        source_id: the source, of kind push.
        relation: the stream.
        rows: mappings from column to value.
        owner: staff, or a gateway with a token of the source.
        key: idempotency key, empty for none.

    Returns:
        How many rows were handed over.

    Raises:
        Refused: the owner is neither.
        NotFound: no such source.
        BadRow: naming the index of the first bad one; nothing was appended.
        KeyReused: other rows came under the key; nothing was appended.
    """
    own = pushing_sources(owner)
    pushing = Source.objects.filter(kind="push", enabled=True)
    source = pushing.filter(pk=source_id).first()
    if source is None:
        raise unknown("pushing source", source_id, pushing.values_list("pk", flat=True))
    if not owner.staff and source not in own:
        raise Refused(
            "this token pushes for other sources",
            found=source_id,
            exists=[one.source for one in own],
            attempt="ask staff for a token of this source",
        )
    log = composition.log()
    with calls_of([source], log):
        if relation not in ROWS:
            raise BadRow(
                f"nothing is pushed into {relation[:60]!r}", found=relation[:60], exists=ROWS
            )
        if not rows or len(rows) > ROWS_AT_ONCE:
            raise BadRow(f"between 1 and {ROWS_AT_ONCE} rows at once", found=str(len(rows)))
        declared = CATALOG.get(relation)
        whole = [_row(declared, index, row) for index, row in enumerate(rows)]
        digest = digest_of_call(key, relation, rows)
        return SourceSink(source.source, log)(StreamRows(key, relation, whole, digest))


def _row(relation: Relation, index: int, row: Any) -> Row:
    if not isinstance(row, Mapping):
        raise BadRow(f"row {index} is not an object", found=type(row).__name__)
    for name in row:
        if name not in relation.names:
            raise BadRow(
                f"row {index}: unknown column {str(name)[:60]!r}",
                found=str(name)[:60],
                exists=relation.names,
            )
    missing = [c.name for c in relation.columns if c.name not in row and not c.nullable]
    if missing:
        raise BadRow(f"row {index} lacks {missing[0]!r}", exists=relation.names)
    # JSON has one kind of number; a column of FLOAT may say 0.
    return tuple(row.get(name) for name in relation.names)
