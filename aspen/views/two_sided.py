"""TwoSided: what every operator does that probes an arrangement of each of its two inputs."""

from __future__ import annotations

from collections.abc import Callable

from aspen.model.schema import Row
from aspen.views.node import Arrangement, Indices, Node, key_of


class TwoSided(Node):
    """Takes the arrangements of both inputs when it starts and gives them back when it stops.

    Args:
        left_indices: key columns of the left rows.
        right_indices: key columns of the right rows, pair by pair.
        residual: a further test over the joined row.
        width: columns on the left.
    """

    def __init__(
        self,
        left: Node,
        right: Node,
        left_indices: Indices,
        right_indices: Indices,
        residual: Callable[[Row], bool] | None,
        width: int,
    ) -> None:
        super().__init__(left, right)
        self._indices = (left_indices, right_indices)
        self._keys = (key_of(left_indices), key_of(right_indices))
        self._residual = residual
        self._width = width
        self._sides: tuple[Arrangement, Arrangement] | None = None

    def start(self) -> None:
        """Take the arrangements of both sides."""
        left, right = self.inputs
        self._sides = (left.arrange(self._indices[0]), right.arrange(self._indices[1]))

    def stop(self) -> None:
        """Returns the arrangements back."""
        if self._sides is not None:
            for node, side in zip(self.inputs, self._sides, strict=True):
                node.disarrange(side)
