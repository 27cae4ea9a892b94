"""GROUP BY's sets of keys: plain ones, ROLLUP, CUBE, GROUPING SETS, and products of them.

GROUP BY a, ROLLUP (b, c)   =   (a, b, c)  (a, b)  (a)
"""

from __future__ import annotations

from itertools import combinations

from sqlglot import exp

from aspen.effort import too_complex
from aspen.streamsql.errors import NotGrouped
from aspen.streamsql.positions import at
from aspen.streamsql.tree import Item, constant, has_aggregate

MOST_SETS = 256
"""Of one SELECT; own choice: each is a grouping of its own."""

Keys = tuple[exp.Expr, ...]


def grouping_sets(select: exp.Expr, items: list[Item]) -> list[Keys]:
    """Returns the sets of expressions that GROUP BY groups by, one after the other.

    Args:
        items: the select list, for whole numbers and ALL.

    Raises:
        NotGrouped: a whole number that is the index of no output.
        TooComplex: more sets than are computed.
    """
    group = select.args.get("group")
    if group is None:
        return [()]
    if group.args.get("all"):
        plain = (item.value for item in items if not item.value.is_star)
        return [tuple(value for value in plain if not has_aggregate(value))]
    found: list[Keys] = [()]
    for tree in group.expressions:
        found = [before + keys for before in found for keys in _sets(tree, items)]
        _refuse_many(len(found))
    return found


def _sets(tree: exp.Expr, items: list[Item]) -> list[Keys]:
    parts = [_keys(part, items) for part in tree.expressions]
    match tree:
        case exp.Rollup():
            counts = range(len(parts), -1, -1)
            return [sum(parts[:count], ()) for count in counts]
        case exp.Cube():
            _refuse_many(2 ** len(parts))
            counts = range(len(parts), -1, -1)
            return [sum(some, ()) for count in counts for some in combinations(parts, count)]
        case exp.GroupingSets():
            return [keys for one in tree.expressions for keys in _sets(one, items)]
    return [_keys(tree, items)]


def _keys(tree: exp.Expr, items: list[Item]) -> Keys:
    """Returns the keys of one entry: several where it is a list in brackets."""
    if isinstance(tree, exp.Tuple):
        return tuple(_key(part, items) for part in tree.expressions)
    return (_key(tree, items),)


def _key(key: exp.Expr, items: list[Item]) -> exp.Expr:
    """Returns a key; a whole number is the index of an output."""
    literal = constant(key) if isinstance(key, exp.Literal) else None
    if literal is None or type(literal.value) is not int:
        return key
    index = literal.value
    if not 1 <= index <= len(items) or items[index - 1].value.is_star:
        raise NotGrouped(
            f"there is no output {index} to group by",
            position=at(key),
            found=str(index),
            exists=[f"1 to {len(items)}"],
            attempt="name the column",
        )
    return items[index - 1].value


def _refuse_many(count: int) -> None:
    if count > MOST_SETS:
        raise too_complex(f"GROUP BY has more than {MOST_SETS} sets of keys", f"{count:,}")
