"""Order: facts depth first along the paths they make, so that diagrams of neighbours share nodes.

    link  a→b  b→c  c→d  b→e  …      first all that follows a→b, then its neighbours

Source: [LTZIL09] section VI. Own: the order of one batch, since a diagram's variables keep their
places once given; the seeds move them with every link.
"""

from __future__ import annotations

from collections.abc import Iterable

from aspen.runtime.network.fact import Fact, Place


def depth_first(facts: Iterable[Fact]) -> list[Fact]:
    """Give the facts in the order in which a walk along their edges meets them.

    Law: a permutation of the facts.
    """
    given = list(facts)
    leaving: dict[Place, list[Fact]] = {}
    for fact in given:
        for target in dict.fromkeys(target for target, _ in fact.edges):
            leaving.setdefault(target, []).append(fact)
    order: dict[Fact, None] = {}
    for start in list(leaving):
        # A place is left once, when first reached: its facts stand together, as in Alg. 3.
        stack = leaving.pop(start, [])[::-1]
        while stack:
            fact = stack.pop()
            if fact not in order:
                order[fact] = None
                for source in dict.fromkeys(source for _, source in fact.edges):
                    stack += reversed(leaving.pop(source, []))
    return list(order | dict.fromkeys(given))
