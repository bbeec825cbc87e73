// An audit event: an occurrence of a row of the catalogue.
import { visible } from '../../platform/text/printable.js';
import type { TOKEN_EXCHANGE_EVENTS } from './event-catalogue.js';
import type { PayloadsOf } from './event-members.js';

/** The payload of each event. A host that writes events of its own to the same trail adds them by declaration merging. */
export interface AuditPayloads extends PayloadsOf<typeof TOKEN_EXCHANGE_EVENTS> {}

type PriorActors = AuditPayloads['svc.audit.token-exchange.succeeded']['priorActors'];

/** As a payload has them: none where there are none, and with nothing that cannot be seen. */
export function recordedActors(actors: PriorActors = []): PriorActors {
  if (actors.length === 0) return undefined;
  return actors.map(({ iss, sub }) => ({ iss: visible(iss), sub: visible(sub) }));
}

export type AuditEventName = keyof AuditPayloads;

/** Who did what, and in which request. Ids of local users only: never an e-mail address, a person's external sub or a token. */
export interface AuditContext {
  readonly occurredAt: Date;
  /** The id that the answer's `X-Request-Id` and the log lines carry. */
  readonly requestId: string;
  readonly subjectUserId?: string;
  /** The actor, if there is one besides the subject. */
  readonly actorUserId?: string;
}

/** Something that has happened. */
export interface AuditEvent<Name extends AuditEventName = AuditEventName> extends AuditContext {
  readonly name: Name;
  readonly payload: AuditPayloads[Name];
}

/** Makes an event of the catalogue. */
export function auditEvent<Name extends AuditEventName>(
  name: Name,
  { occurredAt, requestId, subjectUserId, actorUserId }: AuditContext,
  payload: AuditPayloads[Name],
): AuditEvent<Name> {
  return {
    name,
    occurredAt,
    requestId,
    subjectUserId,
    actorUserId,
    payload,
  };
}
