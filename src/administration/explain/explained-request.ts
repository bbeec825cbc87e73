// Explains the trail's events of one request, with cause and remedy of each refusal.
import type { StoredEvent } from '../../audit/audit-trail.reader.js';
import { outcomeOf } from '../../audit/instance-events.js';
import { inOwnWords } from '../../instance/token-exchange-settings.js';
import type { CheckedExplanation, Explanation } from '../../token-exchange/instance.js';
import { BEARER_REFUSALS, FAULT, NOTICES, TOKEN_REFUSALS } from '../../token-exchange/instance.js';

/** Consists of JSON values. */
export interface ExplainedRequest {
  readonly requestId: string;
  /** Oldest first. */
  readonly events: readonly ExplainedEvent[];
}

export interface ExplainedEvent {
  readonly event: string;
  /** ISO 8601. */
  readonly occurredAt: string;
  /** Null if nothing was refused. */
  readonly reason: string | null;
  /** Check, cause and remedy are null if the reason is unknown. */
  readonly check: string | null;
  readonly cause: string | null;
  readonly remedy: string | null;
  readonly subjectUserId: string | null;
  readonly actorUserId: string | null;
  /** Parts of the request that were ignored although it succeeded. */
  readonly notices: readonly (Explanation & { readonly kind: string; readonly detail: string })[];
  /** The stored payload. */
  readonly payload: Readonly<Record<string, unknown>>;
}

/** Only refusals of tokens have a check. */
type KnownExplanation = Explanation & Partial<CheckedExplanation>;

const OF_ACCESS_TOKENS = inOwnWords(BEARER_REFUSALS);

/** Every known reason with its explanation. */
export const REFUSAL_REASONS = [
  ...Object.entries<KnownExplanation>(TOKEN_REFUSALS),
  ...Object.entries<KnownExplanation>(OF_ACCESS_TOKENS),
].map(([reason, { check = null, cause, remedy }]) => ({ reason, check, cause, remedy }));

export function explainedRequest(requestId: string, events: readonly StoredEvent[]): ExplainedRequest {
  return { requestId, events: events.map(explainedEvent) };
}

function explainedEvent({ event, occurredAt, payload, ...stored }: StoredEvent): ExplainedEvent {
  const reason = typeof payload['reason'] === 'string' ? payload['reason'] : null;
  const { subjectUserId, actorUserId } = stored;
  return {
    event,
    occurredAt: occurredAt.toISOString(),
    reason,
    ...explanationOf(event, reason),
    notices: noticesIn(payload),
    subjectUserId,
    actorUserId,
    payload,
  };
}

/** By the property of a successful event that names what was ignored. */
const NOTED = { replacedRedirect: 'redirect_replaced', ignoredRole: 'role_ignored' } as const;

function noticesIn(payload: StoredEvent['payload']): ExplainedEvent['notices'] {
  return Object.entries(NOTED).flatMap(([member, kind]) => {
    const detail = payload[member];
    return typeof detail === 'string' ? [{ kind, ...NOTICES[kind], detail }] : [];
  });
}

/** Check, cause and remedy of an event's reason; null if it is unknown. */
export function explanationOf(event: string, reason: string | null) {
  const { check = null, cause = null, remedy = null } = (reason && known(event, reason)) || {};
  return { check, cause, remedy };
}

function known(event: string, reason: string): KnownExplanation | undefined {
  if (reason === 'internal_error') return FAULT;
  const outcome = outcomeOf(event);
  if (outcome?.is !== 'failed') return undefined;
  const table: Readonly<Record<string, KnownExplanation>> =
    outcome.of === 'api' ? OF_ACCESS_TOKENS : TOKEN_REFUSALS;
  return Object.hasOwn(table, reason) ? table[reason] : undefined;
}
