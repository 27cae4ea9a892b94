/** Parts of the service that are down, each with what a visitor notices of it. */
import { t } from '../language';

function sentence(part: string): string {
  switch (part) {
    case 'beat':
      return t('Sources are read late: the timetable of background work is down.');
    case 'celery':
      return t('Sources are read late: background work is down.');
    case 'clock':
      return t('Locked doors, taken seats and times appear late: the clock is down.');
    case 'engine':
      return t('Answers are delayed: the engine is down.');
    case 'listener':
      return t('Readings are delayed: the connection to the sensors is down.');
    case 'redis':
      return t('Nothing can change: the store of the newest states is down.');
    case 'simulator':
      return t('Readings are delayed: the simulator is down.');
    case 'sources':
      return t('Calendars and other pages are read late: what fetches them is down.');
    case 'web':
      return t('This page may load slowly: one of its servers is down.');
    default:
      return t('Something may be delayed: {part} is down.', { part });
  }
}

/** What is down, as sentences, each once. */
export function noticed(down: readonly string[]): string[] {
  return [...new Set(down.map(sentence))];
}
