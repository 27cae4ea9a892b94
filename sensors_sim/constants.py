"""Constants of the motes, each with its unit and its source; nothing else holds such a number.

Sources, by key:
    [TelosB]   Crossbow TelosB data sheet 6020-0094-01 (also sold as Tmote Sky).
    [CC2420]   Texas Instruments CC2420 data sheet SWRS041.
    [15.4]     IEEE Std 802.15.4-2006.
    [CTP]      TinyOS TEP 123, The Collection Tree Protocol; TinyOS 2.x defaults.
    [4bit]     Fonseca et al., Four-Bit Wireless Link Estimation, HotNets 2007.
    [Trickle]  RFC 6206, The Trickle Algorithm.
    [BoX-MAC]  Moss and Levis, BoX-MACs, Stanford SING-08-00.
    [COST231]  COST 231 final report, chapter 4.7.2, multi-wall model.
    [SHT11]    Sensirion SHT1x data sheet, version 5.
    [own]      our own choice, with its doubt.
"""

from __future__ import annotations

# Supply and processor.
SUPPLY_V = 3.0  # two AA cells [TelosB]
MCU_ACTIVE_MA = 1.8  # current draw, microcontroller on, radio off [TelosB]
SLEEP_MA = 0.0051  # current draw, sleep mode: 5.1 µA [TelosB]
MCU_HZ = 4_000_000  # MSP430F1611 at its usual DCO setting [own], up to 8 MHz
CYCLES_PER_OPERATOR = 100  # soft-float comparison on a 16-bit core [own]; ±50 %
BATTERY_MJ = 2_500 * 3.6 * SUPPLY_V * 1_000  # two AA of 2,500 mAh in series [own]: 27 kJ

# Radio.
RADIO_BITS_PER_S = 250_000  # [15.4] at 2.4 GHz; [CC2420] section 5
RADIO_RX_MA = 18.8  # receive and listen [CC2420] section 5
RADIO_TX_MA = {  # by output power in dBm [CC2420] table 9
    0: 17.4,
    -1: 16.5,
    -3: 15.2,
    -5: 13.9,
    -7: 12.5,
    -10: 11.2,
    -15: 9.9,
    -25: 8.5,
}
NOISE_DBM = -98.0  # noise floor at the receiver, from sensitivity −95 dBm [CC2420] section 5
BACKOFF_S = 0.00224  # CSMA-CA: mean 3.5 initial backoff periods of 0.32 ms, twice [15.4] 7.5.1
TURNAROUND_S = 0.000192  # from transmitting to receiving, 12 symbols [15.4] 6.4.1
CHECK_S = 0.0061  # a channel check that finds nothing [BoX-MAC] §5, with CC2420 start-up; ±20 %

# Frames.
PHY_BYTES = 6  # preamble 4, delimiter 1, length 1 [15.4] figure 16
MAC_BYTES = 11  # control 2, number 1, PAN 2, target 2, source 2, check sum 2 [15.4] 7.2.2
NETWORK_BYTES = 9  # options, hops, cost 2, origin 2, number, query [CTP] 3.2; version 1 [own]
FRAME_BYTES = PHY_BYTES + MAC_BYTES + NETWORK_BYTES
ACK_BYTES = PHY_BYTES + 9  # control 2, number 1, check sum 2 [15.4] 7.2.2.3; time stamp 4 [own]
LONGEST_PAYLOAD_BYTES = 127 - MAC_BYTES - NETWORK_BYTES  # aMaxPHYPacketSize [15.4] 6.4.1

# Propagation.
AT_ONE_METRE_DB = 40.2  # free space at 2.44 GHz: 20 log10(4π · 1 m / 0.123 m)
PATH_LOSS_EXPONENT = 2.5  # between free space, 2.0, and cluttered offices, 3.0 [own]; ±0.5
LIGHT_WALL_DB = 3.4  # [COST231] table 4.7.2, at 1.8 GHz
HEAVY_WALL_DB = 6.9  # [COST231] table 4.7.2
FLOOR_DB = 18.3  # first floor crossed [COST231] table 4.7.2
FLOOR_EXPONENT_B = 0.46  # each further floor costs less [COST231] equation 4.7.3
SHADOWING_DB = 3.0  # standard deviation per pair of motes, lasting [own]; ±1
ASYMMETRY_DB = 1.0  # standard deviation between the two directions [own]

# Collection tree.
PARENT_SWITCH_ETX = 1.5  # a new parent must be this much better [CTP] PARENT_SWITCH_THRESHOLD
GREATEST_HOPS = 32  # a packet that went further is in a loop [own]
ETX_KEEP = 0.9  # weight of the past in the estimate [4bit] ALPHA
WORST_GUESS_ETX = 8.0  # of a neighbour heard once, however weak [own]
WORST_ETX = 16.0  # a link that bad is dead [own]
GREATEST_TRIES = 8  # transmissions of one frame over one link [own]; CTP's 30 would hide deaths
GREATEST_DETOURS = 3  # other parents tried for one packet of rows [own]
QUEUE_PACKETS = 12  # waiting at a mote without a route [CTP] forwarding queue

# Trickle timers.
TRICKLE_LEAST_S = 0.128  # [CTP] minimum beacon interval, 128 ms
TRICKLE_GREATEST_S = 524.288  # twelve doublings [CTP] gives 512,000 ms; [Trickle] Imax
TRICKLE_REDUNDANCY = 4  # beacons heard that silence one's own [Trickle] section 6.1: 1 to 5

# Clocks.
DRIFT_PPM = 30.0  # standard deviation of a 32 kHz watch crystal's error [own]: ±20 to ±50 ppm
SYNC_JITTER_S = 0.0005  # error of a time stamp carried by one beacon [own]

# One sample, by device kind: milliampere and seconds while the sensor is powered.
SAMPLE_MA_S = {
    "temperature": (0.55, 0.320),  # 14 bit, measuring [SHT11] table 2 and section 3.4
    "light": (0.7, 0.010),  # photodiode on the ADC with its reference [own]
    "seat": (2.0, 0.020),  # load cell bridge of 1.5 kΩ at 3 V, settling [own]
    "energy": (1.0, 0.050),  # metering chip's register read over a bus [own]
    "door": (0.001, 0.001),  # reed switch read through a pull-up [own]
    "rfid": (0.0, 0.0),  # what the radio hears anyway
    "cpu": (0.0, 0.0),  # a soft sensor costs the machine, no battery
}
OTHER_SAMPLE_MA_S = (1.0, 0.020)  # a device that the table does not know [own]
