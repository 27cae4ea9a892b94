"""What is out of range on a mote is null to it: it runs on, and so do the others."""

from __future__ import annotations

from aspen.algebra.expr import Col, Const, Op
from aspen.model.schema import INT_MOST, Column, Type
from sensors_sim.innet.expressions import compile_predicate, compile_row

COLUMNS = (Column("n", Type.INT), Column("f", Type.FLOAT))
DOUBLE = Op("*", Col("n"), Const(2))


def test_a_row_with_a_number_out_of_range_is_null_and_no_condition_is_true_of_it():
    compute = compile_row((DOUBLE, Col("f")), COLUMNS)
    keep = compile_predicate(Op(">", DOUBLE, Const(5)), COLUMNS)
    assert (compute((3, 0.5)), keep((3, 0.5))) == ((6, 0.5), True)
    assert (compute((INT_MOST, 0.5)), keep((INT_MOST, 0.5))) == ((None, None), False)
