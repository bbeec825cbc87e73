// Authenticates the clients that send identity assertions: by a secret, or by a JWT signed with their key.
import { hash, timingSafeEqual } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import { kindOf, printable, printableList, printableName } from '../../platform/text/printable.js';
import type { Form } from '../endpoint/form.js';
import type { RefusalContext } from '../refusals/oauth-refusal.js';
import { invalidField, isTokenRefusal, OAuthRefusal } from '../refusals/oauth-refusal.js';
import type { TokenExchangeOptions } from '../settings/token-exchange.options.js';
import { TOKEN_EXCHANGE_OPTIONS } from '../settings/token-exchange.options.js';
import type { Algorithm } from '../trust/algorithms.js';
import { algorithmNamed } from '../trust/algorithms.js';
import type { JwksKey } from '../trust/jwks-content.js';
import { MAX_TRIED_KEYS } from '../trust/jwks-content.js';
import type { NamedClient } from '../trust/lookup/trusted-key.service.js';
import { TrustedKeyService } from '../trust/lookup/trusted-key.service.js';
import type { TrustPolicy } from '../trust/trusted-key.js';
import type { CompactJws } from '../verify/compact-jws.js';
import { parseCompactJws, signerAmong, typeOf } from '../verify/compact-jws.js';
import type { TokenUse } from '../verify/external-claims.js';
import { isAloneFor, withoutNulls } from '../verify/external-claims.js';
import { ClientKeyProvider, keySetUrlOf } from './client-keys.js';
import type { TrustedClient } from './client-reader.js';

export const CLIENT_FIELDS = {
  client_id: {},
  client_secret: {},
  client_assertion: {},
  client_assertion_type: {},
};
type ClientForm = Pick<Form<keyof typeof CLIENT_FIELDS>, 'get'>;

/** The authentication methods of clients, as metadata name them. */
export const CLIENT_AUTH_METHODS = ['client_secret_basic', 'client_secret_post', 'private_key_jwt'] as const;

const JWT_ASSERTION = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const NOT_ENCODED = 'the Basic credential is not form-encoded (RFC 6749 §2.3.1)';
const BASIC = /^Basic +([\w+/-]+={0,2}) *$/i;

/**
 * The credentials of a request; undefined if it has none.
 * @param authorization the header of that name
 * @throws OAuthRefusal `field_invalid` for several methods at once, or an incomplete one
 * @throws OAuthRefusal `client_credential_invalid` for an unreadable header
 */
export function readClientCredentials(
  form: ClientForm,
  authorization: string | undefined,
): ClientCredentials | undefined {
  const sent = [authorization, form.get('client_secret'), form.get('client_assertion')];
  if (sent.filter(Boolean).length > 1) throw invalidField('the client must authenticate in one way only');
  const id = form.get('client_id') || undefined;
  if (authorization) return basic(authorization, id);
  if (form.get('client_secret')) return post(form, id);
  return form.get('client_assertion') ? byAssertion(form, id) : undefined;
}

/** Reads the header. Id and secret are form-encoded in it (RFC 6749 §2.3.1). */
function basic(authorization: string, id: string | undefined): ClientCredentials {
  const [, encoded = ''] = BASIC.exec(authorization) ?? [];
  const text = Buffer.from(encoded, 'base64').toString();
  const colon = text.indexOf(':');
  if (colon < 1) throw unreadable('the Authorization header is no Basic credential');
  // A URL as id: `https://…` instead of `https%3A//…`.
  if (/^https?:\/\//i.test(text)) throw unreadable(`${NOT_ENCODED}: the colon of its id must be %3A`);
  const sent = { id: unescaped(text.slice(0, colon)), secret: unescaped(text.slice(colon + 1)) };
  if (id !== undefined && id !== sent.id)
    throw invalidField('client_id must be that of the Authorization header');
  return sent;
}

function post(form: ClientForm, id: string | undefined): ClientCredentials {
  if (id === undefined) throw invalidField('client_id is required with client_secret');
  return { id, secret: form.get('client_secret') ?? '' };
}

function byAssertion(form: ClientForm, id: string | undefined): ClientCredentials {
  if (form.get('client_assertion_type') !== JWT_ASSERTION)
    throw invalidField(`client_assertion_type must be ${JWT_ASSERTION}`);
  return { id, assertion: (form.get('client_assertion') ?? '').trim() };
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw unreadable(`${NOT_ENCODED}: a percent sign must be %25`);
  }
}

function unreadable(detail: string): OAuthRefusal {
  return new OAuthRefusal('client_credential_invalid', { detail });
}

/** The credentials that a client sent. Secret. */
export type ClientCredentials =
  | { readonly id: string; readonly secret: string }
  | { readonly id: string | undefined; readonly assertion: string };

export interface AuthenticatedClient {
  readonly id: string;
  /** The issuers of trusted entries that name the client with these credentials. */
  readonly issuers: ReadonlySet<string>;
  /**
   * The services whose access tokens it may introspect besides its own, by issuer; undefined: it may not introspect.
   */
  readonly introspects?: ReadonlyMap<string, ReadonlySet<string>>;
}

/** The same, with the replay record of the client's JWT, which must be used up. */
interface ClientOnce extends AuthenticatedClient {
  readonly use?: TokenUse;
}

/** RFC 7523 §3 allows refusing a JWT that expires unreasonably late, because its replay record stays until then. */
const MAX_SECONDS_AHEAD = 3_600;
/** `typ` is free (RFC 7519 §5.1), unless it names another kind of JWT. The second is from draft-ietf-oauth-rfc7523bis. */
const TYPES: readonly unknown[] = [undefined, 'jwt', 'client-authentication+jwt'];

@Injectable()
export class ClientAuthenticator {
  constructor(
    private readonly keys: TrustedKeyService,
    private readonly clientKeys: ClientKeyProvider,
    private readonly clock: Clock,
    @Inject(TOKEN_EXCHANGE_OPTIONS)
    private readonly options: Pick<TokenExchangeOptions, 'clockToleranceSeconds' | 'ownIssuer'>,
  ) {}

  /**
   * Called before the assertion is checked. Public clients are refused.
   * @throws OAuthRefusal `client_credential_missing`, `client_unknown`, `client_credential_invalid`
   */
  async authenticate(sent: ClientCredentials | undefined): Promise<ClientOnce> {
    if (sent === undefined) throw new OAuthRefusal('client_credential_missing');
    return 'secret' in sent ? this.bySecret(sent.id, sent.secret) : this.byAssertion(sent.id, sent.assertion);
  }

  /**
   * Authenticates a client, and uses up its JWT at once.
   * @param useAlone uses up the id of a JWT; false if it was used before
   * @throws OAuthRefusal with the first reason against the client
   */
  async authenticateOnce(
    sent: ClientCredentials | undefined,
    useAlone: (use: TokenUse) => Promise<boolean>,
  ): Promise<AuthenticatedClient> {
    const { use, ...client } = await this.authenticate(sent);
    if (use !== undefined && !(await useAlone(use)))
      throw new OAuthRefusal('client_credential_replayed', { clientId: printable(client.id) });
    return client;
  }

  private bySecret(id: string, secret: string): AuthenticatedClient {
    const secretHash = hash('sha256', secret, 'buffer');
    const isSame = (digits: string) => timingSafeEqual(Buffer.from(digits, 'hex'), secretHash);
    const matching = this.named(id).filter(
      ({ client }) => 'secretHashes' in client && client.secretHashes.some(isSame),
    );
    return this.authenticated(id, matching, 'its secret is another');
  }

  /** `private_key_jwt` (RFC 7523 §3). */
  private async byAssertion(id: string | undefined, assertion: string): Promise<ClientOnce> {
    const jws = readJws(assertion);
    const { iss, sub, jti, exp } = jws.payload;
    if (typeof sub !== 'string' || iss !== sub || (id !== undefined && id !== sub))
      throw invalid(undefined, 'iss, sub and client_id of the client assertion must be the id of the client');
    const matching: NamedClient[] = [];
    for (const named of this.named(sub)) if (await this.hasSigned(named.client, jws)) matching.push(named);
    const client = this.authenticated(sub, matching, 'no key of its own has signed the client assertion');
    this.refuseOtherAudience(jws.payload);
    const fault = this.claimFault(jws.payload);
    if (fault !== undefined) throw invalid(sub, fault);
    // Ids are per client, because another client or an issuer may use the same.
    const use = { jti: `client:${JSON.stringify([sub, jti])}`, exp: Number(exp) };
    return { use, ...client };
  }

  /** @param matching the entries that have its credential. Suspended and ended ones are ignored. */
  private authenticated(id: string, matching: readonly NamedClient[], detail: string): AuthenticatedClient {
    if (matching.length === 0) throw invalid(id, detail);
    const trusted = matching.filter(({ entry }) => isTrusted(entry, this.clock.nowMs()));
    const asking = trusted.filter(({ client }) => client.introspect);
    return {
      id,
      issuers: new Set(trusted.map(({ entry: { issuer } }) => issuer)),
      introspects: asking.length === 0 ? undefined : servicesByIssuer(asking),
    };
  }

  private named(id: string): readonly NamedClient[] {
    const named = this.keys.clientsNamed(id);
    if (named.length === 0) throw new OAuthRefusal('client_unknown', { found: printableName(id) });
    return named;
  }

  private async hasSigned(client: TrustedClient, jws: CompactJws): Promise<boolean> {
    const algorithm = algorithmNamed(jws.header['alg']);
    if (algorithm === undefined) return false;
    const keys = await this.keysOf(client, jws.header['kid'], algorithm);
    return (await signerAmong(keys, algorithm, jws)) !== undefined;
  }

  /** Without a `kid`, which RFC 7523 does not require, the keys for the algorithm, at most three. */
  private async keysOf(
    client: TrustedClient,
    kid: unknown,
    algorithm: Algorithm,
  ): Promise<readonly JwksKey[]> {
    if ('secretHashes' in client) return [];
    const url = keySetUrlOf(client);
    const keys =
      'keys' in client ? client.keys : url ? await this.clientKeys.keysAt(url, kid, algorithm) : [];
    const fitting = keys.filter(
      (one) => one.algorithms.has(algorithm) && (kid === undefined || one.kid === kid),
    );
    return fitting.slice(0, MAX_TRIED_KEYS);
  }

  /**
   * The audience by draft-ietf-oauth-rfc7523bis. Most libraries send the token endpoint by default, so the log names the expected
   * value.
   */
  private refuseOtherAudience({ sub, aud }: CompactJws['payload']): void {
    const { ownIssuer } = this.options;
    if (isAloneFor(aud, ownIssuer)) return;
    const names = (aud: unknown) => (typeof aud === 'string' ? aud : kindOf(aud));
    const found = Array.isArray(aud) ? printableList(aud.map(names)) : printable(aud);
    const detail = 'aud of the client assertion must be the issuer of this instance alone';
    throw invalid(String(sub), detail, { expected: printable(ownIssuer), found });
  }

  /** What is wrong with the other claims of a client assertion, as a clause. */
  private claimFault({ exp, nbf = 0, iat = 0, jti }: CompactJws['payload']): string | undefined {
    const now = this.clock.nowSeconds();
    const latest = now + this.options.clockToleranceSeconds;
    if (typeof exp !== 'number' || !(exp > now && exp <= now + MAX_SECONDS_AHEAD))
      return `exp of the client assertion must lie at most ${MAX_SECONDS_AHEAD} s ahead`;
    if (typeof nbf !== 'number' || typeof iat !== 'number' || Math.max(nbf, iat) > latest)
      return 'nbf or iat of the client assertion lies ahead';
    return typeof jti === 'string' && jti !== '' ? undefined : 'jti of the client assertion must be a text';
  }
}

function servicesByIssuer(asking: readonly NamedClient[]): ReadonlyMap<string, ReadonlySet<string>> {
  const services = new Map<string, Set<string>>();
  for (const { entry } of asking) {
    const { issuer, resources = [] } = entry;
    services.set(issuer, new Set([...(services.get(issuer) ?? []), ...resources]));
  }
  return services;
}

function isTrusted({ suspended, notAfter }: TrustPolicy, nowMs: number): boolean {
  return suspended !== true && (notAfter === undefined || nowMs < notAfter.getTime());
}

function readJws(assertion: string): CompactJws {
  try {
    const jws = parseCompactJws(assertion);
    const { crit, b64 } = jws.header;
    if (crit === undefined && b64 === undefined && TYPES.includes(typeOf(jws)))
      return { ...jws, payload: withoutNulls(jws.payload) };
  } catch (error) {
    if (!isTokenRefusal(error)) throw error;
  }
  throw invalid(undefined, 'the client assertion is no JWT, or its header is not supported');
}

/** @param id id of a known client; undefined if it is not known yet */
function invalid(id: string | undefined, detail: string, more: RefusalContext = {}): OAuthRefusal {
  return new OAuthRefusal('client_credential_invalid', { clientId: id && printable(id), detail, ...more });
}
