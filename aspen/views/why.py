"""placeholder"""

from aspen.model.schema import Row
from aspen.views.operators.node import Node

Reasons = list[frozenset[tuple[str, Row]]]


def reasons(node: Node, row: Row) -> Reasons:
    """Give."""
    raise KeyError(node, row)
