// Token exchange: external tokens in, an access token out.
import { Injectable } from '@nestjs/common';
import type { RateLimited } from '../../platform/http/throttle/rate-limit.js';
import { EntryThrottleService } from './entry-throttle.service.js';
import { Revocations } from '../revocation/revocations.js';
import { ExternalTokenVerifier } from '../verify/external-token.verifier.js';
import { refuseRevokedSince } from '../verify/revoked-trust.js';
import type { Users } from './commit.service.js';
import { CommitService, idsOf } from './commit.service.js';
import type { FlowRequest } from './flow-request.js';
import type { AskedGrants } from './grants.js';
import type { Issuance } from './issuance.planner.js';
import { IssuancePlanner, grantOf } from './issuance.planner.js';
import { Notices } from './notices.js';
import type { ExchangeTokens } from './verification.js';
import { verifyExchange } from './verification.js';
import type { Tokens } from '../verify/tokens.js';

/** What a successful exchange hands out. */
export interface ExchangeResult extends RateLimited {
  /** The compact access token. Secret. */
  readonly accessToken: string;
  readonly lifetimeSeconds: number;
  /** The granted scopes, if the entries limit them. */
  readonly grantedScopes?: readonly string[];
  /** The service that the token is for, where it is another than the host. */
  readonly audience?: string;
}

/** A token whose success is recorded, and which could not be signed: the trail must not stop at the success. */
export class UnissuedTokenError extends Error {
  constructor(accessTokenId: string, cause: unknown) {
    super(`the access token ${accessTokenId} was recorded and could not be signed`, { cause });
  }
}

@Injectable()
export class TokenExchangeService {
  constructor(
    readonly verifier: ExternalTokenVerifier,
    readonly revocations: Revocations,
    private readonly throttle: EntryThrottleService,
    private readonly issuances: IssuancePlanner,
    private readonly commits: CommitService,
    private readonly notices: Notices,
  ) {}

  /**
   * Exchanges a subject token, and an actor token where there is one, for an access token.
   * @throws Rejection with the first reason against it
   * @throws TooManyRequestsError above the limit of an entry
   */
  async exchange(asked: AskedGrants & ExchangeTokens, request: FlowRequest): Promise<ExchangeResult> {
    return this.issueFor(
      await request.stage('verify', () => verifyExchange(this, asked, request)),
      asked,
      request,
    );
  }

  /** Issues an access token for verified tokens. @throws as `exchange` */
  async issueFor(tokens: Tokens, asked: AskedGrants, request: FlowRequest): Promise<ExchangeResult> {
    const issuance = this.issuances.plan(asked, tokens, request);
    const rateLimit = await this.throttle.count(request, tokens);
    const users = await request.stage('commit', () => this.commit(issuance, request));
    this.notices.warnAfterCommit(request, tokens, users);
    refuseRevokedSince(this.revocations, tokens);
    const issued = await request.stage('issue', () => issue(issuance, users));
    return { ...issued, rateLimit };
  }

  private async commit({ tokens, success }: Issuance, request: FlowRequest): Promise<Users> {
    const { users } = await this.commits.commit({
      request,
      tokens,
      success,
      resultOf: () => undefined,
      inTransaction: async (_transaction, resolved) => ({
        result: undefined,
        events: [{ ...success, ...idsOf(resolved) }],
      }),
    });
    return users;
  }
}

/** @throws UnissuedTokenError where a token that is recorded cannot be signed */
async function issue(issuance: Issuance, users: Users): Promise<ExchangeResult> {
  const { accessTokenId, validity, grants, sign } = issuance;
  const { lifetimeSeconds } = validity;
  const { grantedScopes, audience } = grants;
  try {
    return { accessToken: sign(grantOf(issuance, users)), lifetimeSeconds, grantedScopes, audience };
  } catch (error) {
    throw new UnissuedTokenError(accessTokenId, error);
  }
}
