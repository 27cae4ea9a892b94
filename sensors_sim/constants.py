"""Constants of the simulated network, each with its unit and its source.

What the optimizer relies on too is in `aspen.motes`.

Sources, by key:
    [CC2420]   Texas Instruments CC2420 data sheet SWRS041.
    [CTP]      TinyOS TEP 123, The Collection Tree Protocol; TinyOS 2.x defaults.
    [4bit]     Fonseca et al., Four-Bit Wireless Link Estimation, HotNets 2007.
    [Trickle]  RFC 6206, The Trickle Algorithm.
    [COST231]  COST 231 final report, chapter 4.7.2, multi-wall model.
    [own]      our own choice, with its doubt.
"""

from __future__ import annotations

NOISE_DBM = -98.0  # noise floor at the receiver, from sensitivity −95 dBm [CC2420] section 5

# Propagation.
AT_ONE_METRE_DB = 40.2  # free space at 2.44 GHz: 20 log10(4π · 1 m / 0.123 m)
PATH_LOSS_EXPONENT = 2.5  # between free space, 2.0, and cluttered offices, 3.0 [own]; ±0.5
LIGHT_WALL_DB = 3.4  # [COST231] table 4.7.2, at 1.8 GHz
FLOOR_DB = 18.3  # first floor crossed [COST231] table 4.7.2
FLOOR_EXPONENT_B = 0.46  # each further floor costs less [COST231] equation 4.7.3
SHADOWING_DB = 3.0  # standard deviation per pair of motes, lasting [own]; ±1
ASYMMETRY_DB = 1.0  # standard deviation between the two directions [own]

# Collection tree.
PARENT_SWITCH_ETX = 1.5  # a new parent must be this much better [CTP] PARENT_SWITCH_THRESHOLD
ETX_KEEP = 0.9  # weight of the past in the estimate [4bit] ALPHA
WORST_GUESS_ETX = 8.0  # of a neighbour heard once, however weak [own]
WORST_ETX = 16.0  # a link that bad is dead [own]
GREATEST_DETOURS = 3  # other parents tried for one packet of rows [own]
QUEUE_PACKETS = 12  # waiting at a mote without a route [CTP] forwarding queue

# Trickle timers.
TRICKLE_LEAST_S = 0.128  # [CTP] minimum beacon interval, 128 ms
TRICKLE_GREATEST_S = 524.288  # twelve doublings [CTP] gives 512,000 ms; [Trickle] Imax
TRICKLE_REDUNDANCY = 4  # beacons heard that silence one's own [Trickle] section 6.1: 1 to 5

# Clocks.
DRIFT_PPM = 30.0  # standard deviation of a 32 kHz watch crystal's error [own]: ±20 to ±50 ppm
SYNC_JITTER_S = 0.0005  # error of a time stamp carried by one beacon [own]
