/** What a visitor lets others see, by the code on the card that came with the tag. */
import { http } from '../api/http';
import type { Card, Policy, Visitor } from '../api/schema';
import { t } from '../language';

export type Consent = Visitor['consent'];

export const choices = (): readonly { consent: Consent; title: string; meaning: string }[] => [
  {
    consent: 'hidden',
    title: t('Hide me'),
    meaning: t('Nobody but the staff of the house can find your tag.'),
  },
  {
    consent: 'counted',
    title: t('Count me'),
    meaning: t('You are counted; a count is shown only from three visitors on.'),
  },
  {
    consent: 'room',
    title: t('My room'),
    meaning: t('Others see which room you are in, under a name for today.'),
  },
  {
    consent: 'exact',
    title: t('My place'),
    meaning: t('Others see where a reader last received your tag, under a name for today.'),
  },
];

const KEY = 'smartcis.visitor';
const ME = 'visitors/me/';
const MARK = /^#visitor=([\w-]{1,64})$/;

/** Give the code in the address, which is for this page alone: the part behind # is never sent. */
export function codeIn(hash: string): string | null {
  return MARK.exec(hash)?.[1] ?? null;
}

/** Take the code out of the address and keep it while the window is open. */
export function takeCode(): string | null {
  const given = codeIn(location.hash);
  if (given !== null) {
    sessionStorage.setItem(KEY, given);
    history.replaceState(null, '', location.pathname + location.search);
  }
  return given ?? sessionStorage.getItem(KEY);
}

export function keepCode(code: string): void {
  sessionStorage.setItem(KEY, code);
}

export function forgetCode(): void {
  sessionStorage.removeItem(KEY);
}

const carrying = (code: string): Record<string, string> => ({ 'Visitor-Code': code });

export const look = (code: string): Promise<Visitor> => http.get<Visitor>(ME, carrying(code));

export const choose = (code: string, consent: Consent): Promise<Visitor> =>
  http.patch<Visitor>(ME, { consent }, carrying(code));

/** The code of a simulated visitor, for somebody who wants to try; refused where nobody is simulated. */
export const card = async (): Promise<string> => (await http.get<Card>('visitors/card/')).code;

export const policy = (): Promise<Policy> => http.get<Policy>('visitors/policy/');

/** How long a position is kept, in words. */
export function keptText({ held_s, log_keeps_s, renamed_at_hour }: Policy): string {
  const minutes = Math.round(log_keeps_s / 60);
  const held = Math.round(held_s);
  return t(
    'A position leaves every answer {held} s after it was received; names change daily at {hour}:00. The building’s log keeps what readers received for about {minutes} minutes, longer while little happens. Staff can see the last {held} s of it, and each time is noted.',
    { held, minutes, hour: renamed_at_hour },
  );
}
