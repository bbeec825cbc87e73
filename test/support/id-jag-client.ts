// A company whose identity provider issues identity assertions (ID-JAG), and the client that redeems them.
import { createHash, randomUUID } from 'node:crypto';
import type { Members } from '../../demo/partner.js';
import { Partner } from '../../demo/partner.js';
import { BASE_URL } from './base-url.js';
import type { Fields, TestService } from './test-service.js';

export const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
export const CLIENT_ASSERTION = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** The reasons for which only an identity assertion, its client a partner's question or a security event is refused: `id-jag.spec.ts`, `explain-refusal.spec.ts` and `signals.spec.ts` show them. */
export const ASSERTION_REASONS = [
  'assertion_grants_nothing',
  'assertion_not_supported',
  'client_credential_invalid',
  'client_credential_missing',
  'client_credential_replayed',
  'client_not_allowed',
  'client_unknown',
  'explaining_not_allowed',
  'introspection_not_allowed',
  'refusal_unknown',
  'tenant_not_allowed',
  'transmitter_mismatch',
  'transmitter_unknown',
  'user_mismatch',
];

/** The variables that turn identity assertions on. */
export const ASSERTIONS_ON = { SVC_ID_ASSERTION_ENABLED: 'true' };

export class IdJagClient {
  readonly idp: Partner;
  /** The keys with which the client authenticates if it has no secret. */
  readonly keys: Partner;
  readonly secret = `${randomUUID()}-${randomUUID()}`;

  constructor(
    readonly id: string,
    issuer = `https://${randomUUID()}.idp.example`,
  ) {
    this.idp = Partner.create({ issuer, audience: BASE_URL });
    this.keys = Partner.create({ issuer: id, audience: BASE_URL });
  }

  /** The trusted key entry of the company. @param credential of the client; its secret, unless another is given */
  entry(policy: Members = {}, credential: Members = { secretHash: sha256(this.secret) }): Members {
    return this.idp.staticEntry({
      flows: ['id-jag'],
      scopes: ['workflow:read'],
      expectedAudience: undefined,
      clients: [{ id: this.id, ...credential }],
      ...policy,
    });
  }

  /** `undefined` leaves a claim, or a member of the header, out. */
  assertion(claims: Members = {}, header: Members = {}): string {
    return this.idp.sign(this.claims(claims), { typ: 'oauth-id-jag+jwt', ...header });
  }

  claims(change: Members = {}): Members {
    return this.idp.claims({ client_id: this.id, ...change });
  }

  /** A JWT by which the client authenticates. */
  jwt(claims: Members = {}, header: Members = {}): string {
    const own = { sub: this.id, email: undefined, given_name: undefined, family_name: undefined };
    return this.keys.sign(this.keys.claims({ ...own, ...claims }), header);
  }

  get basic(): Record<string, string> {
    return { authorization: `Basic ${btoa(`${this.id}:${this.secret}`)}` };
  }

  /** Redeems an assertion by the secret in the header, unless `fields` or `headers` say otherwise. */
  redeem(
    service: TestService,
    fields: Fields = {},
    headers: Record<string, string> = this.basic,
  ): Promise<Response> {
    const form = { grant_type: JWT_BEARER, assertion: this.assertion(), ...fields };
    return service.post('/rest/auth/oauth/token', form, headers);
  }
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
