// Explains how the service would treat a token, without using it up, and why a request was refused.
import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import type { StoredEvent } from '../../audit/audit-trail.reader.js';
import { AuditTrailReader } from '../../audit/audit-trail.reader.js';
import { outcomeOf } from '../../audit/instance-events.js';
import { checkText } from '../../audit/trail-filter.js';
import { inOwnWords } from '../../instance/token-exchange-settings.js';
import { Clock } from '../../platform/clock.js';
import { Transactions } from '../../platform/database/transaction.js';
import type { Checked } from '../../platform/input/schemas.js';
import { moment, oneOf, readBy, storableString, stringUpTo } from '../../platform/input/schemas.js';
import { isJsonObject } from '../../platform/json/strict-json.js';
import type {
  AccessFlow,
  CheckedExplanation,
  CheckedStoredEntry,
  Explanation,
  ExplanationRequest,
  TokenExplanation,
} from '../../token-exchange/instance.js';
import {
  ACCESS_FLOWS,
  BEARER_REFUSALS,
  FAULT,
  FIELD_LIMITS,
  FLOWS,
  IdentityLinkRepository,
  JtiRepository,
  JwksSnapshotRepository,
  MAX_TOKEN_CHARACTERS,
  NOTICES,
  RevocationRepository,
  SeatRepository,
  StoredEntryChanges,
  TOKEN_REFUSALS,
  TokenExplainer,
} from '../../token-exchange/instance.js';
import { InstanceUsers } from '../../users/users.module.js';
import { InstanceProjects } from '../../workspace/projects/instance-projects.js';
import { AdministrationSettings, InputError, inputOf, Read } from '../operation.js';

@Injectable()
export class InstanceExplainer {
  constructor(
    private readonly settings: AdministrationSettings,
    private readonly entries: StoredEntryChanges,
    private readonly transactions: Transactions,
    private readonly keySets: JwksSnapshotRepository,
    private readonly revocations: RevocationRepository,
    private readonly jtis: JtiRepository,
    private readonly links: IdentityLinkRepository,
    private readonly users: InstanceUsers,
    private readonly projects: InstanceProjects,
    private readonly seats: SeatRepository,
    private readonly clock: Clock,
  ) {}

  /** @param alsoTrusted entries to treat as stored */
  async explain(
    request: ExplanationRequest,
    alsoTrusted: readonly CheckedStoredEntry[] = [],
  ): Promise<TokenExplanation> {
    const { transactions, keySets, revocations, jtis, links, users, projects, seats, clock } = this;
    const storedEntries = async () => [...(await this.entries.list()), ...alsoTrusted];
    const sources = {
      transactions,
      keySets,
      revocations,
      jtis,
      links,
      users,
      projects,
      seats,
      clock,
      storedEntries,
    };
    return new TokenExplainer(await this.settings.explanationRules(), sources).explain(request);
  }
}

const readTokenMembers = inputOf({
  flow: oneOf(ACCESS_FLOWS),
  /** Secret. */
  token: readBy(z.unknown(), tokenText),
  /** Secret. With token exchange only. */
  actorToken: readBy(z.unknown(), tokenText).optional(),
  /** The DPoP proof of the request; not with an embedded login. */
  proof: readBy(z.unknown(), tokenText).optional(),
  /** Scope and resource are not for embedded logins. */
  scope: stringUpTo(FIELD_LIMITS.scope).optional(),
  /** URIs separated by spaces. */
  resource: stringUpTo(FIELD_LIMITS.resource).optional(),
  /** The origin of the page that posts an embedded login; undefined: not from a browser. */
  origin: stringUpTo(FIELD_LIMITS.resource).optional(),
  /** ISO 8601: the time at which the token is checked; undefined: now. */
  at: moment().optional(),
});

export type TokenToExplain = ReturnType<typeof readTokenMembers>;

/** A request in the trail, by the `X-Request-Id` of its response. */
const readRequest = inputOf({ requestId: readBy(storableString(), checkText) });

export type Explained = { readonly token: TokenExplanation } | { readonly request: ExplainedRequest };

/** Inputs that do not apply to the flow. */
function foreignTo(flow: AccessFlow): readonly (keyof TokenToExplain)[] {
  const { gives, hasActor } = FLOWS[flow];
  const ofOthers = gives === 'session' ? (['proof', 'scope', 'resource'] as const) : (['origin'] as const);
  return hasActor ? ofOthers : [...ofOthers, 'actorToken'];
}

@Injectable()
export class TokenOperations {
  constructor(
    private readonly explainer: InstanceExplainer,
    private readonly trail: AuditTrailReader,
  ) {}

  /** Changes nothing. The trail records it without the token. */
  @Read('token explain', readEither)
  async explain(input: ReturnType<typeof readEither>): Promise<Explained> {
    if ('requestId' in input) {
      const { requestId } = input;
      return { request: explainedRequest(requestId, await this.trail.ofRequest(requestId)) };
    }
    const { resource, at, ...request } = input;
    const uris = resource?.split(' ').filter((uri) => uri !== '');
    const asked = {
      resource: uris?.length === 0 ? undefined : uris,
      at: at === undefined ? at : new Date(at),
    };
    return { token: await this.explainer.explain({ ...request, ...asked }) };
  }
}

function readEither(input: unknown): TokenToExplain | ReturnType<typeof readRequest> {
  return isJsonObject(input) && 'requestId' in input ? readRequest(input) : readToken(input);
}

function readToken(input: unknown): TokenToExplain {
  const read = readTokenMembers(input);
  const foreign = foreignTo(read.flow).find((member) => read[member] !== undefined);
  if (foreign === undefined) return read;
  throw new InputError(foreign, `is for ${foreign === 'origin' ? 'embedded logins' : 'token exchange'}`);
}

/** Every flow refuses longer tokens as malformed. */
function tokenText(value: unknown): Checked<string> {
  if (typeof value !== 'string' || value === '') return { rule: 'must be a token' };
  const isTooLong = value.length > MAX_TOKEN_CHARACTERS;
  return isTooLong ? { rule: `must have at most ${MAX_TOKEN_CHARACTERS} characters` } : { value };
}

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
  readonly payload: Readonly<Record<string, unknown>>;
}

/** Only refusals of tokens have a check. */
type KnownExplanation = Explanation & Partial<CheckedExplanation>;

const OF_ACCESS_TOKENS = inOwnWords(BEARER_REFUSALS);

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
