// Says what the trail holds of one request, with cause and remedy of what was refused in it.
import type { StoredEvent } from '../audit/audit-trail.reader.js';
import type { CheckedExplanation, Explanation } from '../token-exchange/refusal-explanations.js';
import { BEARER_EXPLANATIONS, REJECTION_EXPLANATIONS } from '../token-exchange/refusal-explanations.js';

/** JSON throughout. */
export interface ExplainedRequest {
  readonly requestId: string;
  /** The oldest first. */
  readonly events: readonly ExplainedEvent[];
}

export interface ExplainedEvent {
  readonly event: string;
  /** ISO 8601. */
  readonly occurredAt: string;
  /** Null where nothing was refused. */
  readonly reason: string | null;
  /** The next three are null where no reason of that name is known. */
  readonly check: string | null;
  readonly cause: string | null;
  readonly remedy: string | null;
  readonly subjectUserId: string | null;
  readonly actorUserId: string | null;
  /** As it was stored. */
  readonly payload: Readonly<Record<string, unknown>>;
}

/** What is explained of events, by their names. */
const EXPLANATIONS: Readonly<Record<string, Readonly<Record<string, Explanation>>>> = {
  'svc.audit.token-exchange.failed': REJECTION_EXPLANATIONS,
  'svc.audit.token-exchange.embed-login-failed': REJECTION_EXPLANATIONS,
  'svc.audit.api.refused': BEARER_EXPLANATIONS,
};

/** Every reason that is known, with what is said of it. */
export const REFUSAL_REASONS: readonly ({ readonly reason: string } & Explanation)[] = [
  ...Object.entries<Explanation>(REJECTION_EXPLANATIONS),
  ...Object.entries<Explanation>(BEARER_EXPLANATIONS),
].map(([reason, explanation]) => ({ reason, check: null, ...explanation }));

/** In the journey of a token, and in commands. */
const FAULT: Explanation = {
  cause: 'a fault of the service ended it',
  remedy: 'the log has the fault at the level `error`, under the same request id',
};

export function explainedRequest(requestId: string, events: readonly StoredEvent[]): ExplainedRequest {
  return { requestId, events: events.map(explainedEvent) };
}

function explainedEvent({ event, occurredAt, payload, ...stored }: StoredEvent): ExplainedEvent {
  const { reason } = payload;
  const word = typeof reason === 'string' ? reason : null;
  const found = word === null ? undefined : explanationOf(event, word);
  return {
    event,
    occurredAt: occurredAt.toISOString(),
    reason: word,
    check: found?.check ?? null,
    cause: found?.cause ?? null,
    remedy: found?.remedy ?? null,
    subjectUserId: stored.subjectUserId,
    actorUserId: stored.actorUserId,
    payload,
  };
}

function explanationOf(
  event: string,
  reason: string,
): (Explanation & Partial<CheckedExplanation>) | undefined {
  if (reason === 'internal_error') return FAULT;
  const table = EXPLANATIONS[event] ?? {};
  return Object.hasOwn(table, reason) ? table[reason] : undefined;
}
