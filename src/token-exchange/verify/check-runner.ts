// Checks of an external token, and how a list of them runs: up to the first that fails, or all.
import type { Clock } from '../../platform/clock.js';
import type { AuthenticatedClient } from '../assertions/client-authenticator.js';
import type { Flow } from '../endpoint/flows.js';
import type { RefusalContext } from '../refusals/oauth-refusal.js';
import { isTokenRefusal, OAuthRefusal } from '../refusals/oauth-refusal.js';
import type { Check as CheckName } from '../refusals/refusal.js';
import type { TokenRefusalReason } from '../refusals/token-refusals.js';
import { TOKEN_REFUSALS } from '../refusals/token-refusals.js';
import type { Algorithm } from '../trust/algorithms.js';
import type { JwksKeyProvider } from '../trust/jwks/jwks-key.provider.js';
import type { TrustedKeyService } from '../trust/lookup/trusted-key.service.js';
import type { TrustedKey } from '../trust/trusted-key.js';
import type { CompactJws } from './compact-jws.js';
import type { AssertionClaims, ExternalClaims, TimedClaims } from './external-claims.js';

/** The purpose of a token: a flow, a security event, or a question about a refusal. */
type Purpose = Flow | 'signals' | 'explain';

/** The token before it is read. */
export const UNREAD: CompactJws = {
  header: {},
  payload: {},
  signingInput: Buffer.of(),
  signature: Buffer.of(),
};

/** Where the keys of tokens are looked for: in trusted key entries, or in the key sets of transmitters. */
export type KeySource = TrustedKeyService | JwksKeyProvider;

/** The rules for tokens. */
export interface CheckRules {
  readonly keys: KeySource;
  readonly clock: Clock;
  /** Whether the strict policy applies. */
  readonly isStrict: boolean;
  readonly toleranceSeconds: number;
  /** The issuer of this instance's access tokens. No `act` may name it, and it is the audience of identity assertions. */
  readonly ownIssuer: string | undefined;
  /** A further audience of other JWTs than identity assertions, by the grant of RFC 7523. */
  readonly tokenEndpoint: string | undefined;
  /** The `aud` of a partner's question about a refusal. */
  readonly explainEndpoint: string | undefined;
  /** The limit from `iat` to `exp` of an identity assertion. */
  readonly maxAssertionLifetimeSeconds: number;
}

/** A token during its checks. Each check sets what it reads, for later checks. */
export class CheckedToken<Claims extends TimedClaims = ExternalClaims> {
  jws = UNREAD;
  algorithm: Algorithm | undefined = undefined;
  /** The trusted keys with the token's `kid` and algorithm. */
  candidates: readonly TrustedKey[] = [];
  /** The candidate that signed the token; the first one until that is known. */
  found: TrustedKey | undefined = undefined;
  isSigned = false;
  /** The candidates' thumbprints, if none of them signed the token. */
  thumbprints: readonly string[] = [];
  /** Seconds since the Unix epoch: the moment at which the signature is verified. */
  now = 0;
  claims!: Claims;
  /** Of an identity assertion. */
  assertion: AssertionClaims | undefined = undefined;
  /** The thumbprint of the key that the token is bound to. */
  boundTo: string | undefined = undefined;

  constructor(
    /** Secret. */
    readonly text: string,
    readonly flow: Purpose,
    readonly rules: CheckRules,
    /** The client that sent an assertion. */
    readonly client?: AuthenticatedClient,
  ) {}

  /** @throws Error before the check that finds it */
  get key(): TrustedKey {
    if (this.found === undefined) throw new Error('a check asks for the key of a token before it is found');
    return this.found;
  }
}

/** An external token, or a logout token. */
export type AnyToken = CheckedToken<TimedClaims>;

/** The expected and the found value. */
export type Compared = readonly [expected: string, found: string];

/** One check, for requests and explanations alike. */
export interface TokenCheck<Seen = CheckedToken> {
  /** The check, if it is not the reason's. */
  readonly check?: CheckName;
  /** The name of the checked property of the token or its entry. */
  readonly about: string;
  readonly reason: TokenRefusalReason;
  /** Whether later checks need the result of this one. */
  readonly isNeeded?: true;
  /** Reads the values for this check and later ones. @throws OAuthRefusal if they cannot be read, for checks of that */
  readonly read?: (seen: Seen) => Promise<void> | undefined;
  readonly fails?: (seen: Seen) => boolean;
  /** Called for passed and failed checks alike. */
  readonly compared: (seen: Seen) => Compared;
  /** The context for log and trail, if the compared values repeat the cause or must not be recorded. */
  readonly logged?: RefusalContext | ((seen: Seen) => RefusalContext);
}

/** The result of a check. Its strings are null if it was not reached. */
export interface CheckResult {
  readonly check: CheckName;
  readonly about: string;
  readonly state: 'passed' | 'failed' | 'not-reached';
  readonly expected: string | null;
  readonly found: string | null;
}

/** Runs checks in order. @throws OAuthRefusal of the first that fails */
export async function passAll<Seen>(checks: readonly TokenCheck<Seen>[], token: Seen): Promise<void> {
  for (const check of checks) {
    const reading = check.read?.(token);
    if (reading !== undefined) await reading;
    if (check.fails?.(token) === true) throw refusalBy(check, token);
  }
}

export function refusalBy<Seen>({ reason, logged, compared }: TokenCheck<Seen>, seen: Seen): OAuthRefusal {
  if (logged !== undefined)
    return new OAuthRefusal(reason, typeof logged === 'function' ? logged(seen) : logged);
  const [expected, found] = compared(seen);
  return new OAuthRefusal(reason, { expected, found });
}

/** Runs every possible check, also after one has failed. */
export async function resultsOf<Seen>(
  checks: readonly TokenCheck<Seen>[],
  token: Seen,
): Promise<readonly CheckResult[]> {
  const results: CheckResult[] = [];
  let isCutOff = false;
  for (const check of checks) {
    const result: CheckResult = isCutOff ? notReached(check) : await made(check, token);
    results.push(result);
    isCutOff ||= result.state === 'failed' && check.isNeeded === true;
  }
  return results;
}

async function made<Seen>(check: TokenCheck<Seen>, token: Seen): Promise<CheckResult> {
  try {
    await passAll([check], token);
    const [expected, found] = check.compared(token);
    return { ...notReached(check), state: 'passed', expected, found };
  } catch (error) {
    if (!isTokenRefusal(error)) throw error;
    const [expected, found] = check.compared(token);
    // Logged values precede the check's compared ones.
    const { expected: logged = expected, found: other, detail } = error.context;
    return { ...notReached(check), state: 'failed', expected: logged, found: other ?? detail ?? found };
  }
}

function notReached<Seen>({ check, about, reason }: TokenCheck<Seen>): CheckResult {
  const name = check ?? TOKEN_REFUSALS[reason].check;
  return { check: name, about, state: 'not-reached', expected: null, found: null };
}
