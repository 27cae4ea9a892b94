"""Base: what the wrappers of every kind have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from aspen.model.schema import Relation
from smartcis.catalog import CATALOG
from smartcis.wrappers.protocol import Capability, Declaration, Settings
from smartcis.wrappers.pulse import Health, Pulse


class BaseWrapper:
    """One source with its declaration and its pulse; see `smartcis.wrappers.protocol.Wrapper`.

    Args:
        settings: how the operator set it up.
        clock: wall time, seconds since the epoch.
        feeds: the relations it feeds; of the catalog's own, the name is enough.
        capabilities: what it can do.
    """

    def __init__(
        self,
        settings: Settings,
        clock: Callable[[], float],
        feeds: Sequence[str | Relation],
        *capabilities: Capability,
    ) -> None:
        self._settings = settings
        self._clock = clock
        self.pulse = Pulse(settings.source, settings.period_s, settings.added_s or clock())
        self.declaration = Declaration(
            settings.source,
            tuple(CATALOG.get(one) if isinstance(one, str) else one for one in feeds),
            settings.period_s,
            frozenset(capabilities),
        )

    def health(self, now_s: float) -> Health:
        """Returns the state by when the source was heard last."""
        return self.pulse.health(now_s)
