// Reconstructs from the trail how many embedded sessions were live at given moments, by their logins and the
// events that ended them.
import type { StoredEvent } from '../../audit/audit-trail.reader.js';

type SessionEvent = Pick<StoredEvent, 'event' | 'occurredAt' | 'subjectUserId' | 'payload'>;

const LOGIN = 'svc.audit.token-exchange.embed-login';

/** What an event ends, as tags that `tagsOf` also gives to logins. */
const ENDS: Readonly<Record<string, (event: SessionEvent) => readonly string[]>> = {
  'svc.audit.session.ended': ({ payload }) => (payload['sessionFamilyIds'] as string[]).map(familyTag),
  'svc.audit.token-exchange.user-signed-out': ({ subjectUserId }) => [`user ${subjectUserId}`],
  'svc.audit.token-exchange.trust-revoked': ({ payload }) => [keyTag(payload)],
};

/** The events from which the history of sessions is computed. */
export const SESSION_EVENTS: readonly string[] = [LOGIN, ...Object.keys(ENDS)];

/**
 * A session lives from its login until the next login in its family, an event that ends it, or the end of its
 * lifetime.
 * @param events of `SESSION_EVENTS`, in any order, beginning one lifetime before the first moment
 * @param moments in milliseconds since the Unix epoch, like all times
 * @returns the number of live sessions at each moment
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

/** Without a key, the tag for all keys of the issuer. */
function keyTag({ issuer, kid }: Readonly<Record<string, unknown>>): string {
  return `key ${JSON.stringify([issuer, kid])}`;
}
