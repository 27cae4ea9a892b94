"""Why an action is refused."""

from __future__ import annotations

import math
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

from aspen.errors import AspenError

SHOWN = 8


class Refused(AspenError, code="smartcis.actions.refused"):
    """An action this person may not do."""


class QuotaReached(AspenError, code="smartcis.actions.quota_reached"):
    """As many as one may have: giving one back helps, waiting does not."""


class ComeBack(AspenError, code="smartcis.limits.come_back"):
    """What may be had again after a while."""

    def __init__(self, message: str, *, retry_s: float, **fields: Any) -> None:
        super().__init__(message, **fields)
        self.retry_s = math.ceil(retry_s)

    def as_dict(self) -> dict[str, Any]:
        """Adds when to come back to the fields of every error."""
        return {**super().as_dict(), "retry_s": self.retry_s}


class LimitReached(ComeBack, code="smartcis.limits.reached"):
    """As much as a person, an address or all together may have for now."""


class BodyTooLarge(AspenError, code="smartcis.api.body_too_large"):
    """A body beyond the limit."""


class Unavailable(AspenError, code="smartcis.api.unavailable"):
    """What the product rests on, log, database or disk, does not answer for now."""


class NotFound(AspenError, code="smartcis.actions.not_found"):
    """A thing that does not exist, or is somebody else's."""


class Conflict(AspenError, code="smartcis.actions.conflict"):
    """A step that a thing's state does not allow now."""


class Invalid(AspenError, code="smartcis.actions.invalid"):
    """A value the thing cannot have."""


class AlreadyThere(AspenError, code="smartcis.actions.already_there"):
    """A key that another thing has."""


def unknown(what: str, found: object, names: Iterable[object]) -> NotFound:
    """Returns the error that something does not exist, the nearest names first."""
    known = sorted(map(str, names))
    near = get_close_matches(str(found), known, n=SHOWN, cutoff=0.5)
    rest = [name for name in known if name not in near]
    return NotFound(
        f"there is no {what} {str(found)[:60]!r}",
        found=str(found)[:60],
        exists=(near + rest)[:SHOWN],
        attempt=f"did you mean {near[0]}?" if near else "",
    )
