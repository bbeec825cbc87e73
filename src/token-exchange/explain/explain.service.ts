// Tells a partner why its token was refused, if it proves possession of a key of the entry.
import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';
import type { StoredRefusal } from '../audit/audit-trail.js';
import { AuditBus, auditEvent, AuditTrail } from '../audit/audit-trail.js';
import type { ClientRequest } from '../endpoint/flow.runner.js';
import { OAuthRefusal } from '../refusals/oauth-refusal.js';
import type { Check } from '../refusals/refusal.js';
import type { TokenRefusalReason } from '../refusals/token-refusals.js';
import { TOKEN_REFUSALS } from '../refusals/token-refusals.js';
import { JtiRepository } from '../replay/jti.repository.js';
import { Revocations } from '../revocation/revocations.js';
import { TrustedKeyService } from '../trust/lookup/trusted-key.service.js';
import type { TrustedKey } from '../trust/trusted-key.js';
import { entryKeyOf } from '../trust/trusted-key.js';
import type { VerifiedExplainProof } from '../verify/external-token.verifier.js';
import { ExternalTokenVerifier, issuerAndKid, refuseRevokedKey } from '../verify/external-token.verifier.js';

/** The refusal for the partner, as JSON. */
export interface ToldRefusal {
  readonly request_id: string;
  readonly occurred_at: string;
  readonly flow: string;
  readonly party?: string;
  /** A code of docs/refusals.md; undefined if the user is the cause. */
  readonly reason?: string;
  readonly check: Check;
  readonly cause: string;
  readonly remedy: string;
  readonly detail?: string;
  readonly expected?: string;
  readonly found?: string;
}

/** Refusals that would reveal something about a local user. */
const ABOUT_USERS: readonly Check[] = ['admission', 'user'];
const OF_A_USER = {
  check: 'user',
  cause: 'this person is refused',
  remedy: 'ask the operator of the instance, who finds the cause by the request id',
} as const;

@Injectable()
export class ExplainService {
  constructor(
    private readonly verifier: ExternalTokenVerifier,
    private readonly revocations: Revocations,
    private readonly keys: TrustedKeyService,
    private readonly jtis: JtiRepository,
    private readonly trail: AuditTrail,
    private readonly audit: AuditBus,
    private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Log,
  ) {}

  /** @throws OAuthRefusal for every refused question. All get the same answer */
  async explain(proof: string, request: ClientRequest): Promise<ToldRefusal> {
    const verified = await this.verifier.verifyExplainProof(proof);
    refuseRevokedKey(this.revocations, verified);
    return request.inTime(() => this.answerTo(verified, request));
  }

  /**
   * The same statements run for every answer, so that its timing reveals nothing about others' ids.
   * @rule P.mayExplain A partner is told only if its entry says so.
   */
  private async answerTo(
    { claims, key }: VerifiedExplainProof,
    request: ClientRequest,
  ): Promise<ToldRefusal> {
    const isNew = await this.jtis.useAlone(claims);
    const stored = await this.trail.refusalsOf(claims.requestId);
    const refusal = stored.find((one) => this.isOf(one, key));
    if (!isNew) throw new OAuthRefusal('token_replayed', issuerAndKid({ key }));
    if (key.policy.mayExplain !== true)
      throw new OAuthRefusal('explaining_not_allowed', issuerAndKid({ key }));
    if (refusal === undefined) throw new OAuthRefusal('refusal_unknown', issuerAndKid({ key }));
    await this.record(refusal, key, request);
    return toldOf(claims.requestId, refusal);
  }

  /**
   * @rule D146 A partner is told of refusals that name its entry. If no known key made the signature, the refusal names no entry,
   * and every entry of the issuer may ask.
   */
  private isOf({ payload: { issuer, kid, reason } }: StoredRefusal, key: TrustedKey): boolean {
    if (issuer === undefined || issuer !== key.policy.issuer || !isKnown(reason)) return false;
    const named = this.keys.keysOf(issuer).filter((one) => one.kid === kid);
    if (named.length === 0 || reason === 'signature_invalid') return true;
    return named.some(({ policy }) => entryKeyOf(policy) === entryKeyOf(key.policy));
  }

  private async record(
    { payload: { reason } }: StoredRefusal,
    key: TrustedKey,
    { requestId, clientAddress }: ClientRequest,
  ): Promise<void> {
    const name = 'svc.audit.token-exchange.refusal-explained';
    const payload = { ...issuerAndKid({ key }), reason, clientAddress };
    await this.audit.record([auditEvent(name, { occurredAt: this.clock.now(), requestId }, payload)]);
    this.logger.info({ event: name, requestId, payload }, 'audit');
  }
}

function toldOf(requestId: string, { occurredAt, payload }: StoredRefusal): ToldRefusal {
  const { flow, party, reason, userId, detail, expected, found } = payload;
  const about = { request_id: requestId, occurred_at: occurredAt.toISOString(), flow, party };
  const { check, cause, remedy } = TOKEN_REFUSALS[reason as TokenRefusalReason];
  if (userId !== undefined || ABOUT_USERS.includes(check)) return { ...about, ...OF_A_USER };
  return { ...about, reason, check, cause, remedy, detail, expected, found };
}

/** Another version may have written it. */
function isKnown(reason: string): boolean {
  return Object.hasOwn(TOKEN_REFUSALS, reason);
}
