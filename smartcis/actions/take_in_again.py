"""Take in again: append a log entry anew that was left out because it ended the engine."""

from __future__ import annotations

import structlog

from aspen.log.entry import BadEntry, OneTimeQuery, decode
from aspen.log.left_out import LeftOut
from smartcis import composition
from smartcis.errors import Invalid, NotFound

logger = structlog.get_logger(__name__)


def take_in_again(position: str) -> LeftOut:
    """Appends it at the log's end; a second time that changes nothing.

    Raises:
        NotFound: no entry is left out there.
        Invalid: it is a question, whose answer nobody waits for any more, or was no entry at all.
    """
    log = composition.log()
    found = {str(one.position): one for one in log.left_out()}
    if position not in found:
        raise NotFound(
            "no entry is left out there",
            found=position,
            exists=list(found),
        )
    try:
        entry = decode(found[position].entry.encode())
    except BadEntry as error:
        raise Invalid("it never was an entry", found=error.found) from error
    if isinstance(entry, OneTimeQuery):
        raise Invalid("it is a question, and nobody waits for its answer", attempt="ask again")
    if not found[position].taken_in_at:
        again = log.take_in_again(found[position])
        logger.info("entry_taken_in_again", position=position, at=again)
    return next(one for one in log.left_out() if str(one.position) == position)
