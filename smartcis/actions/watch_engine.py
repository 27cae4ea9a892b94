"""Watch the engine: add the source that tells the log what the engine's epochs cost."""

from __future__ import annotations

from smartcis.models import Source

PERIOD_S = 10.0


def watch_engine() -> bool:
    """Adds the source, unless there is one of its kind; an operator may switch it off.

    Returns:
        Whether it was added.
    """
    if Source.objects.filter(kind="engine").exists():
        return False
    Source.objects.create(source="aspen", name="AspEN", kind="engine", period_s=PERIOD_S)
    return True
