// Token exchange: exchanges external tokens for an access token.
import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import type { RateLimited } from '../../platform/http/throttle/rate-limit.js';
import type { RecordedWork } from '../audit/audit-trail.js';
import { AuditBus } from '../audit/audit-trail.js';
import type { ProvingRequest } from '../dpop/dpop-proofs.js';
import { DpopProofs } from '../dpop/dpop-proofs.js';
import { EntryThrottleService } from '../endpoint/entry-throttle.service.js';
import type { FlowRequest } from '../endpoint/flow.runner.js';
import type { LinkedUsers, Users } from '../identity/decide.js';
import { decideRequest } from '../identity/decide.js';
import { UseRepository } from '../replay/use.repository.js';
import { Revocations } from '../revocation/revocations.js';
import type { TokenExchangeOptions } from '../settings/token-exchange.options.js';
import { TOKEN_EXCHANGE_OPTIONS } from '../settings/token-exchange.options.js';
import type { ExchangeTokens, Tokens } from '../verify/external-token.verifier.js';
import {
  ExternalTokenVerifier,
  refuseRevokedSince,
  verifyExchange,
} from '../verify/external-token.verifier.js';
import type { Applied } from './apply.service.js';
import { ApplyService } from './apply.service.js';
import type { AskedGrants, Issuance } from './issuance.planner.js';
import { IssuancePlanner, successOf } from './issuance.planner.js';
import { Notices } from './notices.js';

/** The result of a successful exchange. */
export interface ExchangeResult extends RateLimited {
  /** The compact access token. Secret. */
  readonly accessToken: string;
  readonly lifetimeSeconds: number;
  /** The granted scopes, if the entries limit them. */
  readonly grantedScopes?: readonly string[];
  /** The service that the token is for, if it is another than the host. */
  readonly audience?: string;
  /** Whether the access token is bound to the key of the client's proof; else it is a Bearer token. */
  readonly isBound: boolean;
}

/** A request for an access token, without its external tokens. */
export interface AskedIssuance extends AskedGrants {
  readonly proving: ProvingRequest;
}

@Injectable()
export class TokenExchangeService {
  constructor(
    readonly verifier: ExternalTokenVerifier,
    readonly revocations: Revocations,
    private readonly proofs: DpopProofs,
    private readonly issuances: IssuancePlanner,
    private readonly throttle: EntryThrottleService,
    private readonly uses: UseRepository,
    private readonly applies: ApplyService,
    private readonly audit: AuditBus,
    private readonly notices: Notices,
    private readonly clock: Clock,
    @Inject(TOKEN_EXCHANGE_OPTIONS) private readonly options: Pick<TokenExchangeOptions, 'roles'>,
  ) {}

  /**
   * Exchanges a subject token, and perhaps an actor token, for an access token.
   * @throws OAuthRefusal with the first reason against it
   * @throws TooManyRequestsError above the limit of an entry
   */
  async exchange(asked: AskedIssuance & ExchangeTokens, request: FlowRequest): Promise<ExchangeResult> {
    const tokens = await request.stage('verify', async () =>
      this.proofs.withProof(await verifyExchange(this, asked, request), asked.proving),
    );
    return this.issueFor(tokens, asked, request);
  }

  /** Issues an access token for verified tokens and their proof. @throws as `exchange` */
  async issueFor(tokens: Tokens, asked: AskedGrants, request: FlowRequest): Promise<ExchangeResult> {
    const issuance = this.issuances.plan(asked, tokens);
    return request.inTime(async () => {
      const rateLimit = await this.throttle.count(request, tokens);
      const linked = await request.stage('use', () => this.uses.use(tokens));
      const { users, result: accessToken } = await this.complete(issuance, linked, request);
      this.notices.warnAfterCommit(request, tokens, users);
      const { lifetimeSeconds } = issuance.terms.validity;
      const { grantedScopes, audience } = issuance.terms.grants;
      const isBound = tokens.proof !== undefined;
      return { accessToken, lifetimeSeconds, grantedScopes, audience, isBound, rateLimit };
    });
  }

  /** Writes as little as the request needs: its success, also its new user, or any change of its users. */
  private async complete(
    issuance: Issuance,
    linked: LinkedUsers,
    request: FlowRequest,
  ): Promise<Applied<string>> {
    const { tokens } = issuance.terms;
    const known = decideRequest(tokens, linked, this.options.roles);
    if (known !== undefined) return this.record(issuance, known, request);
    const issue = (users: Users) => this.issue(issuance, users, request);
    const provisioned = await this.applies.provision(tokens, linked, request, issue);
    return provisioned ?? this.applies.apply(tokens, request, async (_, users) => issue(users));
  }

  private async record(issuance: Issuance, users: Users, request: FlowRequest): Promise<Applied<string>> {
    const { result, events } = this.issue(issuance, users, request);
    await request.stage('record', () => this.audit.record(events));
    return { users, result };
  }

  /** Signs before the success is recorded, so that a recorded success always refers to a token that exists. */
  private issue(issuance: Issuance, users: Users, request: FlowRequest): RecordedWork<string> {
    const { terms } = issuance;
    refuseRevokedSince(this.revocations, terms.tokens);
    const accessToken = this.issuances.sign(issuance, users);
    return { result: accessToken, events: [successOf(terms, users, request, this.clock.now())] };
  }
}
