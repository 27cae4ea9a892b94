"""Radio: how strongly a receiver hears a tag.

Log-distance path loss. Source: T. S. Rappaport, Wireless Communications, ch. 4; exponent for
office floors. The constants are typical for 2.4 GHz tags and not calibrated.
"""

from __future__ import annotations

import math
from random import Random

AT_ONE_METRE_DBM = -45.0
PATH_LOSS_EXPONENT = 2.5
SHADOWING_DB = 2.0  # standard deviation of what people and furniture do
FLOOR_DBM = -90.0  # weaker than this is not heard


def signal_dbm(distance_m: float, rng: Random) -> float:
    """Returns the strength at which a beacon arrives."""
    loss_db = 10.0 * PATH_LOSS_EXPONENT * math.log10(max(distance_m, 1.0))
    return AT_ONE_METRE_DBM - loss_db + rng.gauss(0.0, SHADOWING_DB)
