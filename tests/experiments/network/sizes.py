"""Sizes: what each thing weighs on the wire and in a node's state, in bytes.

All values are dictionary-encoded in 4 bytes. A decision node is dumped as variable, low and high
child (CUDD's DDDMP and JavaBDD's files hold the same three); the constants cost nothing.
"""

from __future__ import annotations

VALUE_BYTES = 4

PACKET_BYTES = 16
"""Per packet: sender, receiver, number of items, length."""

SIGN_BYTES = 1
"""Per item: what it is, insertion or deletion."""

ROW_BYTES = 2 * VALUE_BYTES
EDGE_BYTES = 2 * VALUE_BYTES
VARIABLE_BYTES = VALUE_BYTES

COUNT_BYTES = 1
"""Before the variables of a product: a product is dumped as these."""

BDD_NODE_BYTES = 3 * VALUE_BYTES

DERIVATION_BYTES = EDGE_BYTES + ROW_BYTES
"""One edge of the derivation graph: the base row and the view row that it took."""

ITEM_BYTES = SIGN_BYTES + ROW_BYTES
"""A row on the wire without provenance; a link, too, has two values."""
