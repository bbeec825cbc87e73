// The JWTs of `check`: good ones, and ones with one defect each.
import { randomUUID } from 'node:crypto';
import type { CompactJWSHeaderParameters } from 'jose';
import { CompactSign } from 'jose';
import type { CheckSettings, Flow } from './check-options.js';
import type { PartnerClock } from './clock.js';

type Members = Readonly<Record<string, unknown>>;

/** An embedded login accepts at most 60 seconds. */
const LIFETIME_SECONDS: Readonly<Record<Flow, number>> = { exchange: 300, embed: 55 };

export class CheckTokens {
  constructor(
    private readonly settings: CheckSettings,
    private readonly clock: PartnerClock,
  ) {}

  /**
   * A token of the partner.
   * @param claims replace the good claims; `undefined` removes a claim
   * @param header replaces the good header in the same way
   */
  async signed(flow: Flow, claims: Members = {}, header: Members = {}): Promise<string> {
    const { key } = this.settings;
    const jws = new CompactSign(bytesOf(this.claims(flow, claims)));
    // Without `crit` here, jose would refuse to sign this token.
    const options = { crit: { 'check-extension': true } };
    return jws.setProtectedHeader(await this.header(header)).sign(key.privateKey, options);
  }

  /** A token with other times. @param seconds are added to `iat` and `exp` */
  moved(flow: Flow, seconds: number): Promise<string> {
    const nowSeconds = this.nowSeconds();
    return this.signed(flow, {
      iat: nowSeconds + seconds,
      exp: nowSeconds + seconds + LIFETIME_SECONDS[flow],
    });
  }

  /** A token that lives longer than a login's token may. */
  longLived(flow: Flow): Promise<string> {
    return this.signed(flow, { exp: this.nowSeconds() + 90 });
  }

  /** The partner's signature under claims that the partner did not sign. */
  async tampered(flow: Flow): Promise<string> {
    const [header, , signature] = (await this.signed(flow)).split('.');
    return `${header}.${encoded(this.claims(flow))}.${signature}`;
  }

  async unsigned(flow: Flow): Promise<string> {
    return `${encoded(await this.header({ alg: 'none' }))}.${encoded(this.claims(flow))}.`;
  }

  /** An HMAC with the public key as its secret: a verifier that lets the token choose the algorithm accepts it. */
  async hmac(flow: Flow): Promise<string> {
    const secret = new TextEncoder().encode(this.settings.key.publicPem());
    const jws = new CompactSign(bytesOf(this.claims(flow)));
    return jws.setProtectedHeader(await this.header({ alg: 'HS256' })).sign(secret);
  }

  private claims(flow: Flow, change: Members = {}): Members {
    const { issuer, audience, subject, email } = this.settings;
    const nowSeconds = this.nowSeconds();
    return {
      ...{ iss: issuer, sub: subject, aud: audience, jti: randomUUID() },
      ...{ iat: nowSeconds, exp: nowSeconds + LIFETIME_SECONDS[flow] },
      ...(email === undefined ? {} : { email, email_verified: true }),
      ...change,
    };
  }

  private async header(change: Members): Promise<CompactJWSHeaderParameters> {
    const { key } = this.settings;
    return { alg: key.alg, kid: await key.kid(), typ: 'JWT', ...change };
  }

  private nowSeconds(): number {
    return Math.floor(this.clock.nowMs() / 1000);
  }
}

function bytesOf(members: Members): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(members));
}

function encoded(members: Members): string {
  return Buffer.from(JSON.stringify(members)).toString('base64url');
}
