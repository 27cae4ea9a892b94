"""Bench `federation`: does the optimizer choose well, and does it know what things cost?

Every query runs in every sound way, side by side in one simulated network of 54, 200 and 1,000
motes; energy and bytes per epoch come from the network's own accounts. On small fields every place
of every group of partners is tried too. The optimizer sees histograms, the tree and the links, and
minimises energy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from federation.estimate import Estimate, estimate
from tests.bench.federation_exhaust import Exhausted, exhaust
from tests.bench.federation_field import LAB_MOTES, QUERIES, RADIO, Asked, office
from tests.bench.federation_measure import Bed, Measured
from tests.bench.federation_ways import Way, chosen, ways
from tests.bench.report import Target, report
from tests.motes.ideal import Ideal

PERIOD_S = 60.0
EPOCHS = {LAB_MOTES: 10, 200: 8, 1_000: 4}
MANY_MOTES = 1_000  # from here on fewer variants: a run shall end within minutes
SMALL_MOTES, SMALL_SEEDS, SMALL_RANGE_M = 8, (1, 2, 3, 4), 8.0
SMALL_QUERIES = QUERIES[:2] + QUERIES[3:5]
ENOUGH = 0.01  # operators below this part of their way's energy and bytes are not judged
FACTOR = 2.0

BEST, SELECTIVE, ONE_SITE, WITHIN, LOST = 1.1, 0.5, 1.05, 0.8, 0.01

Say = Callable[[str], Any]


@dataclass(frozen=True)
class Ran:
    """One query in one field, in every way.

    Args:
        chosen: the way the optimizer took.
        measured: by text of a piece.
    """

    motes: int
    asked: Asked
    ways: tuple[Way, ...]
    chosen: Way
    measured: Mapping[str, Measured]
    estimates: Mapping[str, Estimate]

    def energy_mj(self, way: Way) -> float:
        """Returns what a way took per epoch."""
        return sum(self.measured[piece.text].energy_mj for piece in way.pieces)

    def best(self, *, one_site: bool = False) -> Way:
        """Returns the way that took least."""
        every = [way for way in self.ways if way.one_site or not one_site]
        return min(every, key=self.energy_mj)

    @property
    def raw(self) -> Way:
        """Everything to the base, nothing selected."""
        return self.ways[0]


def run(*, quick: bool, say: Say) -> dict[str, Any]:
    """Measure, and give the report."""
    sizes = {LAB_MOTES: 6} if quick else EPOCHS
    ran = [one for motes, epochs in sizes.items() for one in _field(motes, epochs, say)]
    exhausted = []
    for seed in SMALL_SEEDS[:1] if quick else SMALL_SEEDS:
        field = office(SMALL_MOTES, seed)
        for asked in SMALL_QUERIES:
            one = exhaust(field, Ideal(SMALL_RANGE_M), asked, PERIOD_S)
            say(f"{SMALL_MOTES} motes, seed {seed}, {asked.name}: {one}")
            exhausted.append(one)
    judged = [judgement for one in ran for judgement in _judged(one)]
    figures = {
        "period_s": PERIOD_S,
        "queries": [_figures(one) for one in ran],
        "exhaustive": [one.figures for one in exhausted],
        "operators": judged,
    }
    return report("federation", figures, _targets(ran, exhausted, judged))


def _field(motes: int, epochs: int, say: Say) -> list[Ran]:
    many = motes >= MANY_MOTES
    bed = Bed(office(motes, seed=1), RADIO, PERIOD_S, epochs, written=many)
    found = []
    for asked in QUERIES:
        if many and not asked.everywhere:
            continue
        known = bed.statistics()
        taken, every = chosen(asked, known), ways(asked, turned=not many)
        pieces = {piece.text: piece for way in (*every, taken) for piece in way.pieces}
        estimates = {
            text: estimate(piece.plan, PERIOD_S, piece.method.name.lower(), known)
            for text, piece in pieces.items()
        }
        measured = bed.measure(pieces.values(), estimates)
        one = Ran(motes, asked, tuple(every), taken, measured, estimates)
        say(
            f"{motes} motes, {asked.name}: {taken.name} {one.energy_mj(taken):.1f} mJ per epoch, "
            f"best {one.best().name} {one.energy_mj(one.best()):.1f}, "
            f"raw {one.energy_mj(one.raw):.1f}"
        )
        found.append(one)
    return found


def _figures(one: Ran) -> dict[str, Any]:
    return {
        "motes": one.motes,
        "query": one.asked.name,
        "selective": one.asked.selective,
        "chosen": one.chosen.name,
        "best": one.best().name,
        "ways": {way.name: _way(one, way) for way in (*one.ways, one.chosen)},
    }


def _way(one: Ran, way: Way) -> dict[str, Any]:
    pieces = [one.measured[piece.text] for piece in way.pieces]
    expected = [one.estimates[piece.text] for piece in way.pieces]
    rows, missing, wrong = (sum(piece.rows[n] for piece in pieces) for n in range(3))
    return {
        "energy_mj": round(sum(piece.energy_mj for piece in pieces), 2),
        "energy_mj_expected": round(sum(e.energy_mj_per_epoch for e in expected), 2),
        "bytes": round(sum(piece.sent_bytes for piece in pieces), 1),
        "bytes_expected": round(sum(e.bytes_per_epoch for e in expected), 1),
        "setup_mj": round(sum(piece.setup[1] for piece in pieces), 1),
        "setup_bytes": round(sum(piece.setup[0] for piece in pieces)),
        "answers_compared": sum(piece.answers[0] for piece in pieces),
        "answers_right": sum(piece.answers[1] for piece in pieces),
        "rows": rows,
        "rows_missing": missing,
        "rows_wrong": wrong,
        "late_packets": sum(piece.late for piece in pieces),
    }


def _judged(one: Ran) -> list[dict[str, Any]]:
    """Compare every operator of every piece with its estimate.

    An operator is a piece's sampling and selecting (`scan`), its rows on the way to where they
    join (`ship`), its keys going out (`keys`), its rows on the way to the base (`rows`), or its
    partial records (`partials`). It is within the factor if energy and bytes both are.
    """
    found = []
    for text, piece in one.measured.items():
        expected: dict[str, list[float]] = {}
        for operator in one.estimates[text].operators:
            name = _kind(operator.name)
            sums = expected.setdefault(name, [0.0, 0.0])
            sums[0] += operator.size_bytes
            sums[1] += operator.energy_mj
        for name in sorted({*expected, *piece.operators}):
            size, mj = piece.operators.get(name, (0.0, 0.0))
            e_size, e_mj = expected.get(name, [0.0, 0.0])
            if max(mj, e_mj) < ENOUGH * piece.energy_mj:
                continue
            found.append(
                {
                    "motes": one.motes,
                    "query": one.asked.name,
                    "piece": text.split("\n")[0],
                    "operator": name,
                    "energy_mj": round(mj, 3),
                    "energy_mj_expected": round(e_mj, 3),
                    "bytes": round(size, 1),
                    "bytes_expected": round(e_size, 1),
                    "within": _within(mj, e_mj) and _within(size, e_size),
                }
            )
    return found


def _kind(operator: str) -> str:
    first = operator.split(" ", maxsplit=1)[0]
    return "rows" if first == "result" else first


def _within(measured: float, expected: float) -> bool:
    if not measured and not expected:
        return True
    return bool(measured and expected) and 1 / FACTOR <= expected / measured <= FACTOR


def _targets(
    ran: Sequence[Ran], exhausted: Sequence[Exhausted], judged: Sequence[Mapping[str, Any]]
) -> list[Target]:
    def ratio(one: Ran, other: Way) -> float:
        return one.energy_mj(one.chosen) / one.energy_mj(other)

    pieces = [piece for one in ran for piece in one.measured.values()]
    rows = sum(piece.rows[0] for piece in pieces)
    lost = sum(piece.rows[1] + piece.rows[2] for piece in pieces)
    within = sum(bool(one["within"]) for one in judged) / len(judged)
    selective = max(ratio(one, one.raw) for one in ran if one.asked.selective)
    one_site = max(ratio(one, one.best(one_site=True)) for one in ran)
    best = max(ratio(one, one.best()) for one in ran)
    return [
        Target(
            "chosen against the best of all ways and places, small fields, worst case",
            round(max(one.ratio for one in exhausted), 3),
            BEST,
            "times",
        ),
        Target(
            "chosen against the best way tried, 54 motes and more, worst case",
            round(best, 3),
            BEST,
            "times",
        ),
        Target(
            "chosen against everything to the base, selective queries, worst case",
            round(selective, 3),
            SELECTIVE,
            "times",
        ),
        Target(
            "chosen against the best single-site way, worst case",
            round(one_site, 3),
            ONE_SITE,
            "times",
        ),
        Target(
            f"operators whose energy and bytes are within a factor {FACTOR:g} of the estimate",
            round(within, 3),
            WITHIN,
            "share",
            at_most=False,
        ),
        Target(
            "rows of answers missing or wrong, over a radio that loses frames",
            round(lost / max(rows, 1), 4),
            LOST,
            "share",
        ),
    ]
