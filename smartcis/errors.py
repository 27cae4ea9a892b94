"""Why an action is refused."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from aspen.errors import AspenError

SHOWN = 8


class Refused(AspenError, code="smartcis.actions.refused"):
    """An action this person may not do."""


class QuotaReached(AspenError, code="smartcis.actions.quota_reached"):
    """As many as one may have."""


class NotFound(AspenError, code="smartcis.actions.not_found"):
    """A thing that does not exist, or is somebody else's."""


class Invalid(AspenError, code="smartcis.actions.invalid"):
    """A value the thing cannot have."""


def unknown(what: str, found: object, names: Iterable[str]) -> NotFound:
    """Returns the error that something does not exist, the nearest names first."""
    known = sorted(names)
    near = get_close_matches(str(found), known, n=SHOWN, cutoff=0.5)
    rest = [name for name in known if name not in near]
    return NotFound(
        f"there is no {what} {str(found)[:60]!r}",
        found=str(found)[:60],
        exists=(near + rest)[:SHOWN],
        attempt=f"did you mean {near[0]}?" if near else "",
    )
