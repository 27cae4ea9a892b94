"""Hardware of a mote: each figure with its unit and its source; nothing else holds such a number.

Sources, by key:
    [TelosB]   Crossbow TelosB data sheet 6020-0094-01 (also sold as Tmote Sky).
    [CC2420]   Texas Instruments CC2420 data sheet SWRS041.
    [15.4]     IEEE Std 802.15.4-2006.
    [CTP]      TinyOS TEP 123, The Collection Tree Protocol; TinyOS 2.x defaults.
    [BoX-MAC]  Moss and Levis, BoX-MACs, Stanford SING-08-00.
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
BACKOFF_S = 0.00224  # CSMA-CA: mean 3.5 initial backoff periods of 0.32 ms, twice [15.4] 7.5.1
TURNAROUND_S = 0.000192  # from transmitting to receiving, 12 symbols [15.4] 6.4.1
CHECK_S = 0.0061  # a channel check that finds nothing [BoX-MAC] §5, with CC2420 start-up; ±20 %
WAKE_S = 0.25  # between two looks of a mote on batteries at the channel [own]

# Frames.
PHY_BYTES = 6  # preamble 4, delimiter 1, length 1 [15.4] figure 16
MAC_BYTES = 11  # control 2, number 1, PAN 2, target 2, source 2, check sum 2 [15.4] 7.2.2
NETWORK_BYTES = 9  # options, hops, cost 2, origin 2, number, query [CTP] 3.2; version 1 [own]
FRAME_BYTES = PHY_BYTES + MAC_BYTES + NETWORK_BYTES
ACK_BYTES = PHY_BYTES + 9  # control 2, number 1, check sum 2 [15.4] 7.2.2.3; time stamp 4 [own]
LONGEST_PAYLOAD_BYTES = 127 - MAC_BYTES - NETWORK_BYTES  # aMaxPHYPacketSize [15.4] 6.4.1
GREATEST_TRIES = 8  # transmissions of one frame over one link [own]; CTP's 30 would hide deaths
GREATEST_HOPS = 32  # a packet that went further is in a loop [own]
