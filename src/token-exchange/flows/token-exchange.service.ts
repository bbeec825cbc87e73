// Token exchange: external tokens in, an access token out.
import { Injectable } from '@nestjs/common';
import { EntryThrottleService } from '../edge/entry-throttle.service.js';
import { Journey, UnissuedTokenError } from '../journey.js';
import { Revocations } from '../revocation/revocations.js';
import type { RateLimited } from '../../platform/http/throttle/rate-limit.js';
import { ExternalTokenVerifier } from '../verification/external-token.verifier.js';
import { refuseRevokedSince } from '../verification/revoked-trust.js';
import type { Users } from './commit.service.js';
import { CommitService, idsOf } from './commit.service.js';
import type { ExchangeRequest, Issuance } from './issuance.planner.js';
import { IssuancePlanner, grantOf } from './issuance.planner.js';
import { verifyExchange } from './verification.js';

/** What a successful exchange hands out. */
export interface ExchangeResult extends RateLimited {
  /** The compact access token. Secret. */
  readonly accessToken: string;
  readonly lifetimeSeconds: number;
  /** What is granted, where the entries limit it. */
  readonly grantedScopes?: readonly string[];
}

@Injectable()
export class TokenExchangeService {
  constructor(
    readonly verifier: ExternalTokenVerifier,
    private readonly throttle: EntryThrottleService,
    readonly revocations: Revocations,
    private readonly issuances: IssuancePlanner,
    private readonly commits: CommitService,
    private readonly journey: Journey,
  ) {}

  /**
   * Exchanges a subject token, and an actor token where there is one, for an access token.
   * @throws Rejection with the first reason against it
   * @throws TooManyRequestsError above the limit of an entry
   */
  exchange(request: ExchangeRequest): Promise<ExchangeResult> {
    const timed = this.journey.timer('exchange');
    const arrivedAtMs = this.throttle.nowMs();
    return this.journey.audited('exchange', request, async (inTime) => {
      const tokens = await timed('verify', () => verifyExchange(this, request));
      const issuance = this.issuances.plan(request, tokens);
      const arrival = { flow: 'exchange', sender: request.sender, arrivedAtMs } as const;
      const settle = async () => {
        const users = await timed('commit', () => this.commit(issuance));
        refuseRevokedSince(this.revocations, tokens);
        return timed('issue', () => issue(issuance, users));
      };
      return inTime(() => this.throttle.counted(arrival, tokens, settle));
    });
  }

  private async commit({ tokens, success }: Issuance): Promise<Users> {
    const { users } = await this.commits.commit({
      tokens,
      success,
      resultOf: () => undefined,
      inTransaction: async (_transaction, users) => ({
        result: undefined,
        events: [{ ...success, ...idsOf(users) }],
      }),
    });
    this.journey.warnOfIgnoredRoles('exchange', success.requestId, tokens, users);
    return users;
  }
}

/** @throws UnissuedTokenError where a token that is recorded cannot be signed */
async function issue(issuance: Issuance, users: Users): Promise<ExchangeResult> {
  const { accessTokenId, validity, grants, sign } = issuance;
  const { lifetimeSeconds } = validity;
  const { grantedScopes } = grants;
  try {
    return { accessToken: sign(grantOf(issuance, users)).token, lifetimeSeconds, grantedScopes };
  } catch (error) {
    throw new UnissuedTokenError(accessTokenId, error);
  }
}
