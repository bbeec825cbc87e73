// A partner company of the demo: an issuer with signing keys that makes external tokens, valid or not.
import type { JsonWebKey } from 'node:crypto';
import { randomUUID } from 'node:crypto';
import type { SigningAlgorithm } from './signing-key.js';
import { SigningKey } from './signing-key.js';

/** JSON properties that a caller sets, adds, or removes with `undefined`. */
export type Members = Record<string, unknown>;

/** A trusted key entry of type `static`, as section 2.1 of the contract describes it. */
export interface StaticKeyEntry extends Members {
  type: 'static';
  kid: string;
  algorithms: string[];
  key: string;
  issuer: string;
  expectedAudience?: string;
  allowedRoles?: string[];
}

export interface PartnerOptions {
  /** The URL that tokens carry as `iss`. */
  issuer: string;
  /** The id of the first key. Default: random. */
  kid?: string;
  /** Default: ES256. */
  algorithm?: SigningAlgorithm;
  /** The value of `aud`, and of `expectedAudience` in the trusted key entry. */
  audience?: string;
}

/** Seconds from `iat` to `exp`: less than the 60 of embedded login, with a margin for a slow machine. */
const TOKEN_LIFETIME_SECONDS = 55;
const UNSPECIFIED_AUDIENCE = 'https://instance.example';

export class Partner {
  /** The newest key comes first and signs. */
  private readonly keys: [SigningKey, ...SigningKey[]];

  private constructor(
    readonly issuer: string,
    private readonly audience: string | undefined,
    firstKey: SigningKey,
  ) {
    this.keys = [firstKey];
  }

  static create(options: PartnerOptions): Partner {
    const { issuer, audience, kid = randomKid(), algorithm = 'ES256' } = options;
    return new Partner(issuer, audience, new SigningKey(kid, algorithm));
  }

  get kid(): string {
    return this.keys[0].kid;
  }

  get algorithm(): SigningAlgorithm {
    return this.keys[0].algorithm;
  }

  publicKeyPem(): string {
    return this.keys[0].publicKeyPem();
  }

  privateKeyPem(): string {
    return this.keys[0].privateKeyPem();
  }

  /** The entry with which an instance trusts the current key. */
  staticEntry(overrides: Members = {}): StaticKeyEntry {
    const entry: StaticKeyEntry = {
      type: 'static',
      kid: this.kid,
      algorithms: [this.algorithm],
      key: this.publicKeyPem(),
      issuer: this.issuer,
      expectedAudience: this.audience,
    };
    return withoutUndefined({ ...entry, ...overrides });
  }

  /** The key set that the partner publishes: the current and earlier keys. */
  jwks(): { keys: JsonWebKey[] } {
    return { keys: this.keys.map((key) => key.publicJwk()) };
  }

  /**
   * A full set of valid claims for a new token. The e-mail follows from `sub` and the issuer's host, so that
   * two users or partners never share one by accident. `exp` follows `iat`.
   */
  claims(overrides: Members = {}): Members {
    const issuedAt = typeof overrides.iat === 'number' ? overrides.iat : Math.floor(Date.now() / 1000);
    const subject = typeof overrides.sub === 'string' ? overrides.sub : 'customer-1';
    const claims = {
      sub: subject,
      iss: this.issuer,
      aud: this.audience ?? UNSPECIFIED_AUDIENCE,
      iat: issuedAt,
      exp: issuedAt + TOKEN_LIFETIME_SECONDS,
      jti: randomUUID(),
      email: emailFor(subject, this.issuer),
      given_name: 'Robin',
      family_name: 'Castell',
    };
    return withoutUndefined({ ...claims, ...overrides });
  }

  /** A compact JWT with the claims. The current key signs it, even if the header names another key. */
  sign(claims: Members = this.claims(), headerOverrides: Members = {}): string {
    const header = { alg: this.algorithm, typ: 'JWT', kid: this.kid, ...headerOverrides };
    return this.signRaw(JSON.stringify(withoutUndefined(header)), JSON.stringify(claims));
  }

  /** A valid signature over any header and payload strings, JSON or not, to try malformed input. */
  signRaw(headerJsonText: string | Uint8Array, payloadText: string | Uint8Array): string {
    const signingInput = `${base64url(headerJsonText)}.${base64url(payloadText)}`;
    return `${signingInput}.${this.keys[0].signature(signingInput)}`;
  }

  /** Switches to a new key of the same algorithm and returns its id. */
  rotate(kid = randomKid()): string {
    this.keys.unshift(new SigningKey(kid, this.algorithm));
    return kid;
  }
}

function randomKid(): string {
  return `key-${randomUUID().slice(0, 8)}`;
}

function emailFor(subject: string, issuer: string): string {
  const mailbox = /^[A-Za-z0-9_-]{1,64}$/.test(subject) ? subject : 'customer';
  return `${mailbox}@${URL.canParse(issuer) ? new URL(issuer).hostname : 'partner.example'}`;
}

function withoutUndefined<T extends Members>(members: T): T {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T;
}

function base64url(content: string | Uint8Array): string {
  const bytes = typeof content === 'string' ? Buffer.from(content, 'utf8') : Buffer.from(content);
  return bytes.toString('base64url');
}
