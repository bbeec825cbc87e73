// How many embedded sessions were live at some moments, as far as the trail tells: it has their logins and what ended them.
import type { StoredEvent } from '../../audit/audit-trail.reader.js';

type SessionEvent = Pick<StoredEvent, 'event' | 'occurredAt' | 'subjectUserId' | 'payload'>;

const LOGIN = 'svc.audit.token-exchange.embed-login';

/** What an event ends, by words that `tagsOf` a login has too. */
const ENDS: Readonly<Record<string, (event: SessionEvent) => readonly string[]>> = {
  'svc.audit.session.ended': ({ payload }) => (payload['sessionFamilyIds'] as string[]).map(familyTag),
  'svc.audit.token-exchange.user-signed-out': ({ subjectUserId }) => [`user ${subjectUserId}`],
  'svc.audit.token-exchange.trust-revoked': ({ payload }) => [keyTag(payload)],
};

/** What a history of sessions is made of. */
export const SESSION_EVENTS: readonly string[] = [LOGIN, ...Object.keys(ENDS)];

/**
 * A session lives from its login until the next one in its family, its end, or the end of its lifetime.
 * @param events of `SESSION_EVENTS`, in any order, from a lifetime before the first moment on
 * @param moments and all other times in milliseconds since the Unix epoch
 * @returns how many sessions were live at each moment
 */
export function liveSessions(
  events: readonly SessionEvent[],
  lifetimeMs: number,
  moments: readonly number[],
): number[] {
  const logins = events.filter(({ event, payload }) => event === LOGIN && 'sessionFamilyId' in payload);
  const turns = new Map<string, number[]>();
  const note = (tag: string, { occurredAt }: SessionEvent) =>
    turns.set(tag, [...(turns.get(tag) ?? []), occurredAt.getTime()]);
  for (const event of events) for (const tag of ENDS[event.event]?.(event) ?? []) note(tag, event);
  for (const login of logins) note(familyTag(String(login.payload['sessionFamilyId'])), login);
  const lives = logins.map((login) => {
    const from = login.occurredAt.getTime();
    const later = tagsOf(login).flatMap((tag) => turns.get(tag)?.filter((turn) => turn > from) ?? []);
    return { from, until: Math.min(from + lifetimeMs, ...later) };
  });
  return moments.map((moment) => lives.filter(({ from, until }) => from <= moment && moment < until).length);
}

function tagsOf({ subjectUserId, payload }: SessionEvent): string[] {
  const { issuer, sessionFamilyId } = payload;
  return [familyTag(String(sessionFamilyId)), `user ${subjectUserId}`, keyTag(payload), keyTag({ issuer })];
}

function familyTag(id: string): string {
  return `family ${id}`;
}

/** Without a key: of all keys of the issuer. */
function keyTag({ issuer, kid }: Readonly<Record<string, unknown>>): string {
  return `key ${JSON.stringify([issuer, kid])}`;
}
