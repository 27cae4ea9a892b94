"""Ways to run: whether a text may be kept running, and whether it may be asked once.

Law: no way is ever taken for another; the one a text does not allow says why.
"""

from __future__ import annotations

from dataclasses import dataclass

from aspen.streamsql.statement import Statement

STANDS = "the text says ONCE; take the word out to keep it running"
NAMED = "CREATE VIEW keeps a query under a name; ask its SELECT alone once"
GOES_OUT = "OUTPUT TO puts out changes, and an answer given once has none; leave it out"
OTHER = "this changes something; it is neither kept running nor asked"


@dataclass(frozen=True, slots=True)
class Ways:
    """Why a text may not be run in a way; empty where it may.

    Args:
        live: kept running until it is stopped.
        once: answered over the rows of one log position, with ONCE in front of the text if it
            is not there.
    """

    live: str
    once: str


def ways_to_run(statement: Statement) -> Ways:
    """Returns the ways in which a statement may be run."""
    if not statement.asks:
        return Ways(OTHER, OTHER)
    if not statement.maintained:
        return Ways(STANDS, "")
    if statement.name:
        return Ways("", NAMED)
    return Ways("", GOES_OUT if statement.outputs else "")
