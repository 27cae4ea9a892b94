/** Words that come as data and with the product: `word` translates them, and those of others it leaves as they are. */
export const DATA_WORDS: readonly string[] = [
  // Destinations, where only their address is known.
  'exit',
  'toilet',
  'step-free-toilet',
  'quiet-room',
  // How a sensor is made to go wrong.
  'stuck',
  'dropout',
  'drift',
  'noise',
  'offset',
  // What happened to an alarm.
  'raised',
  'cleared',
  'no data',
  'data again',
  'acknowledged',
  'acknowledgement taken back',
  'muted for 1 h',
  'muted for 8 h',
  'muted for 1 d',
  'unmuted',
  'assigned',
  'assigned to nobody',
  'ended by hand',
  'its query was stopped',
];
