"""The base relations, as their declarations say."""

from __future__ import annotations

import pytest

from aspen.model.schema import SourceKind
from aspen.motes.kinds import DEVICE_KINDS
from smartcis.catalog import CATALOG, RATES_HZ, STREAMS
from smartcis.models.state import source_models


def test_every_stream_has_a_rate_and_every_rate_a_stream():
    assert all(one.kind is SourceKind.STREAM and one.rate_hz > 0 for one in STREAMS)
    others = {kind.stream for kind in DEVICE_KINDS if not kind.hears_tags}
    assert {one.name for one in STREAMS} - others == set(RATES_HZ)


def test_comments_are_one_line_and_the_kinds_of_sensor_are_named():
    assert all("\n" not in one.comment and "{" not in one.comment for one in CATALOG)
    assert all(kind.key in CATALOG.get("sensor").comment for kind in DEVICE_KINDS)


@pytest.mark.parametrize("model", source_models(), ids=lambda model: model.__name__)
def test_every_column_of_a_source_table_is_an_attribute(model):
    """Law: what `rows()` reads by default is there, field by field along foreign keys."""
    for relation in model.relations if "rows" not in vars(model) else ():
        for column in CATALOG.get(relation).names:
            at = model
            for part in model.attributes.get(column, column).split("."):
                name = at._meta.pk.name if part == "pk" else part
                field = next(
                    one for one in at._meta.concrete_fields if name in (one.name, one.attname)
                )
                at = field.related_model
