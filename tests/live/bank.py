"""A bank: transfers are transactions, and what comes of them must come out even in every view.

The model is told each transaction with its log position and knows nothing of the engine: what a
view holds at a position is what plain loops give over the transactions up to it.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, field

from aspen.algebra.explain import plan_text
from aspen.log.entry import Change, Declare, Register, Transaction
from aspen.model.catalog import Catalog
from aspen.model.delta import Delta
from aspen.model.schema import Column, Relation, Type
from aspen.streamsql import compile_views
from smartcis.models import MaintainedView

ACCOUNT = Relation("account", (Column("aid", Type.INT), Column("balance", Type.INT)), key=("aid",))
TRANSFER = Relation(
    "transfer",
    tuple(Column(name, Type.INT) for name in ("tid", "src", "dst", "amount")),
    key=("tid",),
)
OPENING = 100
QUERIES = {
    # Sums over one relation.
    "total": "SELECT SUM(a.balance) AS total FROM account a",
    "credit": "SELECT t.dst AS aid, SUM(t.amount) AS amount FROM transfer t GROUP BY t.dst",
    "debit": "SELECT t.src AS aid, SUM(t.amount) AS amount FROM transfer t GROUP BY t.src",
    # The same money along two ways, which must arrive together.
    "zero": """SELECT SUM(n.amount) AS total FROM (
            SELECT m.aid, SUM(m.amount) AS amount FROM (
                SELECT t.dst AS aid, t.amount FROM transfer t
                UNION ALL SELECT t.src, 0 - t.amount FROM transfer t) m
            GROUP BY m.aid) n""",
    "difference": """SELECT c.amount - d.amount AS amount
        FROM (SELECT SUM(amount) AS amount FROM credit) c,
             (SELECT SUM(amount) AS amount FROM debit) d""",
    # Nothing, whenever one looks.
    "drift": """SELECT a.aid, a.balance, n.amount FROM account a JOIN (
            SELECT m.aid, SUM(m.amount) AS amount FROM (
                SELECT t.dst AS aid, t.amount FROM transfer t
                UNION ALL SELECT t.src, 0 - t.amount FROM transfer t) m
            GROUP BY m.aid) n ON n.aid = a.aid
        WHERE a.balance <> 100 + n.amount""",
    "half": "SELECT t.tid FROM transfer t JOIN transfer u ON u.tid = t.tid "
    "WHERE t.amount <> u.amount OR t.src <> u.src",
    "unheard": "SELECT c.aid FROM credit c "
    "WHERE NOT EXISTS (SELECT 1 FROM transfer t WHERE t.dst = c.aid)",
    # Who may have whose money.
    "reach": """WITH RECURSIVE reach(src, dst) AS (
            SELECT t.src, t.dst FROM transfer t
          UNION SELECT r.src, t.dst FROM reach r JOIN transfer t ON t.src = r.dst
        ) SELECT src, dst FROM reach""",
}
ALWAYS_EMPTY = ("drift", "half", "unheard")
VIEWS = compile_views(
    {name: f"CREATE VIEW {name} AS {sql}" for name, sql in QUERIES.items()},
    Catalog.of([ACCOUNT, TRANSFER]),
)

Transfers = dict[int, tuple[int, int, int]]


@dataclass
class Bank:
    """Moves money about; `answers_at` says what every view holds at a log position."""

    log: object
    accounts: int = 8
    seed: int = 1
    balance: Counter = field(default_factory=Counter)
    transfers: Transfers = field(default_factory=dict)
    positions: list[int] = field(default_factory=list)
    states: list[Transfers] = field(default_factory=list)

    def __post_init__(self):
        self.random = random.Random(self.seed)
        self._number = 0

    def begin(self):
        """Declare, register and open the accounts; sockets may follow the views from now on."""
        for order, view in enumerate(VIEWS):
            MaintainedView.objects.create(
                name=view.name,
                sql=QUERIES[view.name],
                plan_text=plan_text(view.plan),
                plan_hash=view.name,
                strategy="absorption-lazy",
                columns=[],
                sources=[],
                standing=True,
                order=order,
            )
        opening = tuple(Change("account", 1, (aid, OPENING)) for aid in range(self.accounts))
        self.balance.update(dict.fromkeys(range(self.accounts), OPENING))
        self._append(Declare(0.0, ACCOUNT), Declare(0.0, TRANSFER), Transaction(0.0, opening))
        self._append(*(Register(0.0, view.name, plan_text(view.plan)) for view in VIEWS))

    def step(self):
        """Transfer something, or take a transfer back: one transaction."""
        draw = self.random
        changes: Counter[Change] = Counter()
        for _ in range(draw.randint(1, 3)):
            if self.transfers and draw.random() < 0.35:
                tid = draw.choice(sorted(self.transfers))
                src, dst, amount = self.transfers.pop(tid)
                self._move(changes, dst, src, amount)
                changes["transfer", (tid, src, dst, amount)] -= 1
            else:
                src, dst = draw.sample(range(self.accounts), 2)
                amount = draw.randint(1, 50)
                self._number += 1
                self.transfers[self._number] = (src, dst, amount)
                self._move(changes, src, dst, amount)
                changes["transfer", (self._number, src, dst, amount)] += 1
        net = [Change(relation, n, row) for (relation, row), n in changes.items() if n]
        self._append(Transaction(0.0, tuple(sorted(net, key=lambda change: change.weight))))

    def _move(self, changes, src, dst, amount):
        for aid, difference in ((src, -amount), (dst, amount)):
            changes["account", (aid, self.balance[aid])] -= 1
            self.balance[aid] += difference
            changes["account", (aid, self.balance[aid])] += 1

    def _append(self, *entries):
        position = self.log.append(entries)
        self.positions.append(position)
        self.states.append(dict(self.transfers))

    def answers_at(self, position: int) -> dict[str, Delta]:
        """Returns what every view holds at a log position."""
        number = bisect_right(self.positions, position) - 1
        return self.answers(self.states[number])

    def answers(self, transfers: Transfers) -> dict[str, Delta]:
        """Returns what every view holds after some transfers."""
        credit, debit = Counter(), Counter()
        pairs = set()
        for src, dst, amount in transfers.values():
            credit[dst] += amount
            debit[src] += amount
            pairs.add((src, dst))
        reach = set(pairs)
        while more := {(a, d) for a, b in reach for c, d in pairs if b == c} - reach:
            reach |= more
        nothing = None if not transfers else 0
        return {
            "total": {(self.accounts * OPENING,): 1},
            "credit": dict.fromkeys(credit.items(), 1),
            "debit": dict.fromkeys(debit.items(), 1),
            "zero": {(nothing,): 1},
            "difference": {(nothing,): 1},
            "reach": dict.fromkeys(reach, 1),
            **{view: {} for view in ALWAYS_EMPTY},
        }
