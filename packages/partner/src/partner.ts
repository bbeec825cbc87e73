// A partner of an instance: exchanges tokens for its users and signs users in.
import type { JSONWebKeySet } from 'jose';
import { AccessTokenCache } from './access-token-cache.js';
import type { ProvedRequest } from './dpop-key.js';
import type { EmbedForm, EmbedRequest } from './embed-form.js';
import { copyOfEmbed, embedForm } from './embed-form.js';
import type { AccessToken, Exchange, ExchangeRequest, Signed } from './exchange-request.js';
import { copyOf, isAbout, readExchange } from './exchange-request.js';
import type { ExternalToken } from './external-token.js';
import { BACKDATED_SECONDS, signedToken } from './external-token.js';
import type { PartnerOptions, Settings } from './options.js';
import { isUrl, readOptions } from './options.js';
import { requireObject } from './own-copy.js';
import { invalidOption, PartnerError } from './partner-error.js';
import { claimsOf } from './person.js';
import { waitBeforeRetry } from './retries.js';
import type { SigningKey } from './signing-key.js';
import { SingleFlight } from './single-flight.js';
import type { Explanation } from './token-endpoint.js';
import { requestExplanation, requestLogout, requestToken } from './token-endpoint.js';

export type { PartnerOptions } from './options.js';

const TOKEN_PATH = '/rest/auth/oauth/token';
const EMBED_PATH = '/rest/auth/embed';
const LOGOUT_PATH = '/rest/auth/backchannel-logout';
const EXPLAIN_PATH = '/rest/auth/explain';
/** The instance accepts a proof of `explain` for 60 seconds from its `iat`. */
const QUESTION_LIFETIME_SECONDS = 60 - BACKDATED_SECONDS;
const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout';
const LOGOUT_LIFETIME_SECONDS = 120;
/** The instance accepts an embedded login with at most 60 seconds from `iat` to `exp`. */
const EMBED_LIFETIME_SECONDS = 60 - BACKDATED_SECONDS;

export interface Partner {
  /**
   * Returns an access token for one of your users. It is kept until shortly before it expires. Equal concurrent requests share an exchange.
   * Only a 429 or 503 is retried, with new tokens, after `Retry-After`.
   * @throws PartnerError
   */
  exchange(request: ExchangeRequest): Promise<AccessToken>;
  /**
   * Returns the headers of one API call: `authorization`, and with `dpop` a proof for this call. If a 401's `WWW-Authenticate` contains
   * `use_dpop_nonce`, repeat the call with new headers for the `nonce` of its `DPoP-Nonce`.
   */
  headersFor(call: ProvedRequest & { readonly accessToken: string }): Promise<Record<string, string>>;
  /**
   * Returns the form that a page posts into the frame to sign a user in. Make one for each login, just before it.
   * @throws PartnerError `invalid_option`
   */
  embedForm(request: EmbedRequest): Promise<EmbedForm>;
  /**
   * Signs out one of your users: ends all sessions and access tokens that your issuer's tokens have opened for the user, and drops kept
   * tokens, even if the answer is lost. Resolves in the next second, because a token of the same second would be refused too. A 429
   * or 503 is retried.
   * @param sub your id of the user
   * @throws PartnerError
   */
  signOut(sub: string): Promise<void>;
  /**
   * Explains why the instance refused one of your tokens, if your entry has `mayExplain`. A 429 or 503 is retried.
   * @param requestId the `requestId` of a `PartnerError`, or the `X-Request-Id` header of a refused login
   * @throws PartnerError `not_found` if the instance explains nothing about this id to your key
   */
  explain(requestId: string): Promise<Explanation>;
  /** Returns the public keys to publish at the `url` of your trusted key entry: the signing key, the next key, the others. */
  jwks(): Promise<JSONWebKeySet>;
  /** Returns a public key as PEM, for a static entry. Default: the key that signs. */
  publicKeyPem(kid?: string): Promise<string>;
}

/**
 * Creates a partner. Sends nothing.
 * @throws PartnerError `invalid_option`
 */
export function createPartner(options: PartnerOptions): Partner {
  return new SigningPartner(readOptions(options));
}

class SigningPartner implements Partner {
  readonly #settings: Settings;
  readonly #cache: AccessTokenCache;
  readonly #flights = new SingleFlight<AccessToken>();
  /** The number of sign-outs. A token that was requested before the last one is not kept, because it may have ended. */
  #signOuts = 0;

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#cache = new AccessTokenCache(settings.cacheSize, settings.clock);
  }

  async exchange(request: ExchangeRequest): Promise<AccessToken> {
    // Read before the first wait: the caller may change the object afterwards.
    const wish = copyOf(request);
    const exchange = await this.#read(wish);
    const { fresh, signal } = wish;
    if (fresh === true) this.#cache.forget(exchange.id);
    else if (typeof fresh === 'string') this.#cache.forget(exchange.id, fresh);
    const kept = this.#cache.get(exchange.id);
    if (kept !== undefined) return kept;
    try {
      return await this.#flights.join(exchange.id, (given) => this.#perform(exchange, given), signal);
    } catch (error) {
      if (signal?.aborted !== true || error instanceof PartnerError) throw error;
      throw new PartnerError('aborted', 'The exchange was given up', { cause: signal.reason });
    }
  }

  async headersFor(call: ProvedRequest & { readonly accessToken: string }): Promise<Record<string, string>> {
    requireObject(call, 'the call', { accessToken: true, method: true, url: true, nonce: true });
    const { method, url, nonce, accessToken } = call;
    for (const [name, value] of Object.entries({ method, url, accessToken }))
      if (typeof value !== 'string' || value === '') throw invalidOption(`${name} must be a text`);
    if (nonce !== undefined && typeof nonce !== 'string') throw invalidOption('nonce must be a text');
    if (!isUrl(url)) throw invalidOption('url must be a URL');
    const { dpopKey } = this.#settings;
    if (dpopKey === undefined) return { authorization: `Bearer ${accessToken}` };
    const dpop = await dpopKey.proof({ method, url, nonce, accessToken });
    return { authorization: `DPoP ${accessToken}`, dpop };
  }

  async embedForm(request: EmbedRequest): Promise<EmbedForm> {
    const { subject, redirectTo, kid } = copyOfEmbed(request);
    const { origin, tokenLifetimeSeconds } = this.#settings;
    const signed = { claims: claimsOf(subject, 'subject'), key: await this.#keyNamed(kid) };
    const token = await this.#sign(signed, Math.min(tokenLifetimeSeconds, EMBED_LIFETIME_SECONDS));
    return embedForm(`${origin}${EMBED_PATH}`, { token: token.jwt, redirectTo });
  }

  async signOut(sub: string): Promise<void> {
    const { clock } = this.#settings;
    const claims = { ...claimsOf(sub, 'sub'), events: { [LOGOUT_EVENT]: {} } };
    const never = new AbortController().signal;
    const signedOut = this.#retried('The sign-out', never, (signal) => this.#logOutOnce(claims, signal));
    // Even if the answer is lost: the instance may have ended them.
    const token = await signedOut.finally(() => this.#forgetAllOf(sub));
    await clock.wait(Math.max(0, (token.signedAt + 1) * 1000 - clock.nowMs()), never);
  }

  async explain(requestId: string): Promise<Explanation> {
    if (typeof requestId !== 'string' || requestId === '') throw invalidOption('requestId must be a text');
    const never = new AbortController().signal;
    return this.#retried('The question', never, (signal) => this.#askOnce(requestId, signal));
  }

  #forgetAllOf(sub: string): void {
    this.#signOuts += 1;
    this.#cache.forgetWhere((id) => isAbout(sub, id));
    this.#flights.forgetWhere((id) => isAbout(sub, id));
  }

  async jwks(): Promise<JSONWebKeySet> {
    return { keys: await Promise.all(this.#settings.keys.map((key) => key.publicJwk())) };
  }

  async publicKeyPem(kid?: string): Promise<string> {
    return (await this.#keyNamed(kid)).publicPem();
  }

  async #read(request: ExchangeRequest): Promise<Exchange> {
    const keys = new Map<string | undefined, SigningKey>();
    for (const kid of [undefined, request.subjectKid, request.actorKid])
      keys.set(kid, await this.#keyNamed(kid));
    return readExchange(request, (kid) => keys.get(kid) ?? this.#settings.keys[0]);
  }

  async #keyNamed(kid: string | undefined): Promise<SigningKey> {
    const { keys } = this.#settings;
    if (kid === undefined) return keys[0];
    for (const key of keys) if ((await key.kid()) === kid) return key;
    throw invalidOption('no key has the kid that is named');
  }

  #perform(exchange: Exchange, given: AbortSignal): Promise<AccessToken> {
    return this.#retried('The exchange', given, (signal) => this.#tryOnce(exchange, signal));
  }

  async #retried<T>(
    work: string,
    given: AbortSignal,
    tryOnce: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const { clock, timeoutSeconds, maxTries } = this.#settings;
    const timeout = AbortSignal.timeout(timeoutSeconds * 1000);
    const signal = AbortSignal.any([given, timeout]);
    const deadlineMs = clock.monotonicMs() + timeoutSeconds * 1000;
    for (let tries = 1; ; tries += 1) {
      try {
        return await tryOnce(signal);
      } catch (error) {
        const failure = withTries(timeout.aborted ? timedOut(work, timeoutSeconds) : error, tries);
        const waitMs = waitBeforeRetry(failure, tries, Math.random());
        const isLate = waitMs !== undefined && clock.monotonicMs() + waitMs > deadlineMs;
        if (waitMs === undefined || tries >= maxTries || isLate) throw failure;
        // Ends early only if the call was aborted. The next try then throws.
        await clock.wait(waitMs, signal).catch(() => undefined);
      }
    }
  }

  /** Signs new tokens for each try: the instance may have used up the earlier ones. */
  async #tryOnce({ id, subject, actor, fields }: Exchange, signal: AbortSignal): Promise<AccessToken> {
    const { origin, tokenLifetimeSeconds, dpopKey, clock, fetch: send } = this.#settings;
    const form = {
      subject: await this.#sign(await this.#bound(subject), tokenLifetimeSeconds),
      actor: actor && (await this.#sign(await this.#bound(actor), tokenLifetimeSeconds)),
      fields,
      dpopKey,
    };
    const [sentMs, sentAt, signOuts] = [clock.monotonicMs(), clock.nowMs(), this.#signOuts];
    const nowMs = () => clock.nowMs();
    const answer = await requestToken(form, { url: `${origin}${TOKEN_PATH}`, fetch: send, nowMs, signal });
    const { accessToken, expiresInSeconds, scope } = answer;
    const tokenType = dpopKey === undefined ? 'Bearer' : 'DPoP';
    const token = {
      accessToken,
      tokenType,
      expiresAt: new Date(sentAt + expiresInSeconds * 1000),
      scope,
    } as const;
    if (signOuts === this.#signOuts) this.#cache.put(id, token, sentMs, expiresInSeconds);
    return token;
  }

  /** Nobody else can use what is sent. */
  async #bound(signed: Signed): Promise<Signed> {
    const jkt = await this.#settings.dpopKey?.thumbprint();
    return jkt === undefined ? signed : { ...signed, claims: { ...signed.claims, cnf: { jkt } } };
  }

  async #logOutOnce(claims: Record<string, unknown>, signal: AbortSignal): Promise<ExternalToken> {
    const { origin, keys, clock, fetch: send } = this.#settings;
    const nowMs = () => clock.nowMs();
    const terms = { nowMs: nowMs(), lifetimeSeconds: LOGOUT_LIFETIME_SECONDS, typ: 'logout+jwt' };
    const token = await signedToken(keys[0], this.#settings, claims, terms);
    await requestLogout(token, { url: `${origin}${LOGOUT_PATH}`, fetch: send, nowMs, signal });
    return token;
  }

  async #askOnce(requestId: string, signal: AbortSignal): Promise<Explanation> {
    const { origin, issuer, keys, clock, fetch: send } = this.#settings;
    const url = `${origin}${EXPLAIN_PATH}`;
    const nowMs = () => clock.nowMs();
    const terms = { nowMs: nowMs(), lifetimeSeconds: QUESTION_LIFETIME_SECONDS, typ: 'explain+jwt' };
    const proof = await signedToken(keys[0], { issuer, audience: url }, { request_id: requestId }, terms);
    return requestExplanation(proof, { url, fetch: send, nowMs, signal });
  }

  #sign({ claims, key }: Signed, lifetimeSeconds: number): Promise<ExternalToken> {
    return signedToken(key, this.#settings, claims, { nowMs: this.#settings.clock.nowMs(), lifetimeSeconds });
  }
}

function timedOut(work: string, seconds: number): PartnerError {
  return new PartnerError('timeout', `${work} took more than ${seconds} seconds`);
}

/** @throws any other error, such as a signal's reason */
function withTries(error: unknown, tries: number): PartnerError {
  if (!(error instanceof PartnerError)) throw error;
  return new PartnerError(error.code, error.message, { ...error, cause: error.cause, tries });
}
