"""Once: a compiled query answered over the rows of one position of the log; nothing is kept."""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings

from aspen.algebra.explain import plan_text
from aspen.errors import AspenError
from aspen.log.entry import OneTimeKind, OneTimeQuery
from aspen.model.schema import Row
from aspen.runtime.one_time_queries import answer_name
from aspen.streamsql import Compiled
from smartcis import composition
from smartcis.compiling.row_order import in_order, order_of, whole
from smartcis.questions.asking import wait


class NotAnswered(AspenError, code="smartcis.once.not_answered"):
    """The engine took the question and cannot answer it."""


@dataclass(frozen=True, slots=True)
class OnceAnswer:
    """What a one-shot query found.

    Args:
        columns: name, type and unit of each.
        rows: each as often as it is there, in the order the query asks for.
        epoch: of the result store, when it was read.
        position: of the log: the rows are those right before it.
        at_s: log time.
        complete_since_s: see `aspen.results.protocol.ViewChange`.
    """

    columns: tuple[tuple[str, str, str], ...]
    rows: Sequence[Row]
    epoch: int
    position: int
    at_s: float
    complete_since_s: float | None


def answer(compiled: Compiled, asker: str = "") -> OnceAnswer:
    """Returns the engine's answer to a compiled query.

    Args:
        asker: whose share of the engine it takes; empty for nobody's.

    Raises:
        NoAnswer: it did not answer in time.
        NotAnswered: it cannot.
    """
    order, asked = order_of(compiled), whole(compiled)
    name, now_s = secrets.token_hex(8), time.time()
    question = OneTimeQuery(
        now_s,
        name,
        "",
        (),
        OneTimeKind.ONCE,
        plan_text=plan_text(asked.plan),
        most_steps=settings.QUESTION_STEPS,
        most_bytes=settings.QUERY_BYTES,
        most_ms=settings.QUESTION_MS,
        owner=asker,
    )
    # Straight to the log, as all questions: see `smartcis.questions.asking`.
    position = composition.log().append([question], key=f"ask:{name}")
    found = wait(answer_name(name))
    if found.error is not None:
        raise NotAnswered.because_of(found.error)
    columns = tuple((c.name, c.type.value, c.unit) for c in compiled.relation.columns)
    rows = in_order(dict(found.rows), found.columns, order)
    since_s = found.complete_since_s
    return OnceAnswer(columns, rows, found.epoch, position, found.at_s, since_s)
