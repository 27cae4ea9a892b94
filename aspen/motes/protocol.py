"""Protocol: what motes do in an epoch, as far as its price depends on it."""

from __future__ import annotations

from aspen.model.schema import Type

METHODS = ("base", "pairwise", "semi", "bloom")
"""How motes compute a join."""

ANSWER_SHARE = 0.9
"""Part of an epoch after which the base answers it."""

LEAST_PERIOD_S = 5.0  # own choice: sixteen slots of sleepy motes fit into it

BLOOM_BITS_PER_KEY = 10
BLOOM_HASHES = 4
"""Own choice: with ten bits per key a Bloom filter errs in 1.2 of 100 [Bloom, CACM 1970]."""

FILTER_BYTES = 96
"""A longer Bloom filter travels in several frames."""

FAIR_ETX = 1.5
"""Own choice: a neighbour that takes no more transmissions is spoken to past the tree."""

SHARED_SITES = 24
"""Meeting points tried for groups of partners that share sensors."""

WIRE_BYTES = dict.fromkeys(Type, 2) | {Type.FLOAT: 3, Type.BOOL: 1}
"""Usual size of a value: varints, measured values as scaled integers, texts by number."""

DOUBLE_BYTES = 8
"""A computed FLOAT travels as an IEEE double."""
