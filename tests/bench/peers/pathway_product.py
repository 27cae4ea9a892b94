"""Pathway as a program beside others: rows come by one of its connectors, answers go out by one.

    pipe      lines on the standard input, read by a connector in Python; a commit after each
    table     a table of an SQLite file, which Pathway's connector polls

Run in Pathway's environment: `python -m tests.bench.peers.pathway_product WAY OUTPUT [TABLE]`.
"""

from __future__ import annotations

import json
import logging
import sys

import pathway as pw

COMMIT_MS = 1


class Link(pw.Schema):  # type: ignore[misc] # Pathway lives elsewhere
    """An edge."""

    src: int = pw.column_definition(primary_key=True)
    dst: int = pw.column_definition(primary_key=True)


class Pipe(pw.io.python.ConnectorSubject):  # type: ignore[misc] # the same
    """Reads transactions, each a line of [src, dst, weight]s, and commits each at once."""

    @property
    def _deletions_enabled(self) -> bool:
        return True

    def run(self) -> None:
        """Reads until the input ends."""
        for line in sys.stdin:
            for src, dst, weight in json.loads(line):
                (self.next if weight > 0 else self.delete)(src=src, dst=dst)
            self.commit()


def once(table: pw.Table) -> pw.Table:
    """Returns each row once."""
    return table.groupby(table.src, table.dst).reduce(table.src, table.dst)


def reachable(link: pw.Table) -> pw.Table:
    """Returns the closure of the links."""
    base = once(link)

    def step(reach: pw.Table, link: pw.Table, base: pw.Table) -> dict[str, pw.Table]:
        further = reach.join(link, reach.dst == link.src).select(reach.src, link.dst)
        return {"reach": once(base.concat_reindex(further))}

    return pw.iterate(step, reach=pw.iterate_universe(base), link=link, base=base).reach


def main() -> None:
    """Keeps the answer in a file of JSON lines; a row of (-links, -links) ends each commit."""
    way, output, *table = sys.argv[1:]
    logging.disable(logging.WARNING)
    if way == "pipe":
        link = pw.io.python.read(Pipe(), schema=Link, autocommit_duration_ms=None)
    else:
        link = pw.io.sqlite.read(table[0], "link", Link, autocommit_duration_ms=COMMIT_MS)
    answer = reachable(link).update_id_type(pw.Pointer)
    mark = link.reduce(src=-pw.reducers.count(), dst=-pw.reducers.count())
    mark = mark.update_id_type(pw.Pointer)
    pw.universes.promise_are_pairwise_disjoint(answer, mark)
    pw.io.jsonlines.write(answer.concat(mark), output)
    pw.run(monitoring_level=pw.MonitoringLevel.NONE)


if __name__ == "__main__":
    main()
