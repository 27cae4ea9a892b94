"""Secrets: what an operator says to be let in, itself or by the name of a variable."""

from __future__ import annotations

import os

from smartcis.wrappers.errors import BadConfig

ENVIRONMENT = "env:"  # keeps passwords out of the config
TOKENS = "SMARTCIS_TOKEN_"
"""Only variables so named are sent to an address of a source: who adds one may read no other."""


def secret(said: str) -> str:
    """Returns a token as it is sent.

    Raises:
        BadConfig: the environment has none of that name, or one that is no token for sources.
    """
    if not said.startswith(ENVIRONMENT):
        return said
    name = said.removeprefix(ENVIRONMENT)
    value = os.environ.get(name, "") if name.startswith(TOKENS) else ""
    if not value:
        raise BadConfig(
            f"the environment has no {name[:60]}",
            found=name[:60],
            attempt=f"the operator sets {TOKENS}…, and the source says {ENVIRONMENT}{TOKENS}…",
        )
    return value
