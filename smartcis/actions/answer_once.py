"""Answer once: `ONCE SELECT …`, over the rows of one position of the log; nothing is kept."""

from __future__ import annotations

from django.utils.translation import gettext_noop

from aspen.streamsql.statement import Statement
from smartcis.access.owner import Owner
from smartcis.actions.support.compile_for import compile_for
from smartcis.compiling.live_catalog import live_catalog
from smartcis.errors import Invalid
from smartcis.models.accesses import note_access
from smartcis.models.closed import closed_among
from smartcis.questions.once import OnceAnswer, answer


def answer_once(statement: Statement, owner: Owner) -> OnceAnswer:
    """Answers a one-shot query.

    Raises:
        AspenError: what is wrong with the text, and where; one to be maintained is wrong here.
        Refused: it reads what is closed to the owner.
        NoAnswer: the engine did not answer in time.
        NotAnswered: it cannot.
    """
    catalog = live_catalog()
    compiled = compile_for(statement, owner, catalog, once=True)
    if compiled.outputs:
        raise Invalid(
            "a one-shot query has one answer, and no changes to put out",
            found=f"OUTPUT TO {compiled.outputs[0].kind}",
            attempt="leave OUTPUT TO out, or leave ONCE out",
        )
    if owner.staff and closed_among(compiled.sources):
        note_access(owner.user_id, owner.account, gettext_noop("asked once"), statement.text)
    return answer(compiled, owner.share)
