"""Check a category: whether a space may be called something else."""

from __future__ import annotations

from smartcis.errors import Invalid
from smartcis.importers.words import CATEGORIES, CONNECTORS


def check_category(was: str, wanted: str) -> None:
    """Refuses a category that there is not, or that only a drawing can give or take.

    Raises:
        Invalid: saying which there are.
    """
    if wanted == was:
        return
    if wanted not in CATEGORIES:
        raise Invalid(f"there is no category {wanted!r}", found=wanted, exists=CATEGORIES)
    if {was, wanted} & CONNECTORS.keys():
        raise Invalid(
            "what joins levels comes from the drawing",
            found=f"{was} to {wanted}",
            exists=[one for one in CATEGORIES if one not in CONNECTORS],
            attempt="correct the drawing and import it again",
        )
