"""Garbage: what came and went leaves a manager as it was, whichever backend and strategy."""

from __future__ import annotations

import pytest
from dd import autoref, cudd
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from views.lanes import Driver, assert_empty

from aspen.log.entry import Unregister
from aspen.provenance.bdd import Bdd
from aspen.provenance.index import AnnotationIndex
from aspen.views.operators.support import absorption, strategies

node = st.integers(0, 4)
links = st.lists(st.tuples(node, node, st.integers(1, 3)), max_size=9, unique=True)
quick = settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
ANNOTATING = [name for name, one in strategies.STRATEGIES.items() if one.annotates]


@pytest.fixture(params=[cudd, autoref], ids=["cudd", "autoref"], scope="class")
def managers(request):
    """Every manager the strategies make, of one backend."""
    made: list[Bdd] = []

    def new_manager() -> Bdd:
        made.append(Bdd(request.param))
        return made[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(absorption, "Bdd", new_manager)
        yield made


# Hypothesis abandons examples half way; dd.autoref complains of what those still hold.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
class TestGarbage:
    @pytest.mark.parametrize(
        "strategy", [*ANNOTATING, "absorption-eager(size=2)", "absorption-eager(interval=3)"]
    )
    @quick
    @given(rows=links, random=st.randoms(use_true_random=False))
    def test_insert_then_delete_is_nothing(self, managers, strategy, rows, random) -> None:
        managers.clear()
        driver = Driver("reach", "way", strategy=strategy)
        driver.insert("seed", [("a", 0)])
        driver.insert("lit", [(place,) for place in range(5)])
        baseline = [(one.live_nodes(), one.live_variables()) for one in managers]
        assert len(baseline) == 2
        driver.insert("link", rows)
        assert not rows or max(one.live_variables() for one in managers) >= 1
        for row in random.sample(rows, len(rows)):
            driver.delete("link", [row])
        for _ in range(3):  # whatever is flushed every third epoch
            driver.insert("link", [(7, 8, 1)])
            driver.delete("link", [(7, 8, 1)])
        assert [(one.live_nodes(), one.live_variables()) for one in managers] == baseline
        driver.delete("seed", [("a", 0)])
        for view in ("reach", "way"):
            assert_empty(driver.fixpoint(view))
            driver.take(Unregister(0.0, view))

    @pytest.mark.parametrize("strategy", ANNOTATING)
    def test_a_spent_budget_gives_everything_back(self, managers, strategy) -> None:
        managers.clear()
        driver = Driver("reach", strategy=f"{strategy}(nodes=10)")
        driver.insert("link", [(one, other, 1) for one in range(5) for other in range(5)])
        (manager,) = managers
        assert len(driver.rows("reach")) == 25
        assert manager.live_nodes() <= 1
        driver.take(Unregister(0.0, "reach"))

    def test_a_variable_nothing_came_to_mention_is_taken_back(self, managers) -> None:
        del managers  # made, and patched in
        manager = Bdd()
        index: AnnotationIndex[str] = AnnotationIndex(manager)
        used, unused = index.allocate(), index.allocate()
        index.carry(index.times(index.true, used), "row")
        assert index.sweep() == [unused]
        assert manager.live_variables() == 1
        assert index.entries() >= 2, "a node and a mention"
        index.drop(index.times(index.true, used), "row")
        index.sweep()
        assert index.entries() == manager.live_variables() == 0
