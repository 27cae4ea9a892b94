/** Parts of the service that are down, each with what a visitor notices of it. */

const NOTICED: Readonly<Record<string, string>> = {
  beat: 'Sources are read late: the timetable of background work is down.',
  celery: 'Sources are read late: background work is down.',
  clock: 'Locked doors, taken seats and times appear late: the clock is down.',
  engine: 'Answers are delayed: the engine is down.',
  listener: 'Readings are delayed: the connection to the sensors is down.',
  redis: 'Nothing can change: the store of the newest states is down.',
  simulator: 'Readings are delayed: the simulator is down.',
  sources: 'Calendars and other pages are read late: what fetches them is down.',
  web: 'This page may load slowly: one of its servers is down.',
};

/** What is down, as sentences, each once. */
export function noticed(down: readonly string[]): string[] {
  const sentences = down.map((name) => NOTICED[name] ?? `Something may be delayed: ${name} is down.`);
  return [...new Set(sentences)];
}
