// Tokens that are refused, each for another reason, and what the operator is told. Unit tests show the reasons that a token has by
// itself.
import { randomUUID } from 'node:crypto';
import type { Members } from '../../../demo/partner.js';
import { Partner } from '../../../demo/partner.js';
import type { TokenRefusalReason } from '../../../src/token-exchange/refusals/token-refusals.js';
import { RevocationService } from '../../../src/token-exchange/revocation/revocation.service.js';
import { createUser } from '../../support/local-users.js';
import { LOGOUT_PATH, logoutToken } from '../../support/logout-tokens.js';
import type { TestClock } from '../../support/test-clock.js';
import type { Fields, TestService } from '../../support/test-service.js';
import { BASE_URL } from '../../support/test-service.js';

/** In every sub, jti and e-mail address: what must be in no line and no row. */
export const MARKER = 'zephyrine';

/** A partner of its own for each case, whose tokens stand still with the service's clock. */
export class CasePartner {
  readonly partner: Partner;
  private tokens = 0;

  constructor(
    readonly name: string,
    readonly policy: Members,
    private readonly clock: TestClock,
  ) {
    this.partner = Partner.create({
      issuer: `https://${name}.example`,
      kid: `${name}-key`,
      audience: BASE_URL,
    });
  }

  get issuer(): string {
    return this.partner.issuer;
  }

  get now(): number {
    return Math.floor(this.clock.nowMs() / 1000);
  }

  get email(): string {
    return `${MARKER}@${this.name}.private.example`;
  }

  claims(change: Members = {}): Members {
    const jti = `${MARKER}-${this.name}-${++this.tokens}`;
    const own = { sub: `${MARKER}-${this.name}`, email: this.email, jti, iat: this.now, exp: this.now + 50 };
    return this.partner.claims({ ...own, ...change });
  }

  token(change: Members = {}, header: Members = {}): string {
    return this.partner.sign(this.claims(change), header);
  }
}

/** The properties of the payload besides flow and reason. */
export type Told = Readonly<Record<string, unknown>>;

export interface RefusalCase {
  readonly reason: TokenRefusalReason;
  readonly policy?: Members;
  /** Default: exchange, of the subject token. */
  readonly flow?: 'embed';
  readonly token: (one: CasePartner) => string;
  readonly fields?: (one: CasePartner) => Fields;
  /** Runs before the token is made. */
  readonly before?: (service: TestService, one: CasePartner) => Promise<unknown>;
  readonly told: (one: CasePartner) => Told;
}

const plain = (one: CasePartner) => one.token();
const withClaims = (change: Members) => (one: CasePartner) => one.token(change);
const ofKey = ({ issuer, partner }: CasePartner) => ({ issuer, kid: partner.kid });
/** Issuer and kid of the case's own key, and these. */
const told = (more: Told) => (one: CasePartner) => ({ ...ofKey(one), ...more });
const PRIVATE_DOMAIN = 'other.private.example';

const KEYS_AND_LOGOUTS: readonly RefusalCase[] = [
  {
    reason: 'trust_revoked',
    token: plain,
    before: (service, one) => service.part(RevocationService).revoke(ofKey(one), 'test-of-refusals'),
    told: told({ party: 'subject' }),
  },
  {
    reason: 'signed_out_by_provider',
    token: plain,
    before: async (service, { partner, name, now }) => {
      const logout = logoutToken(partner, { sub: `${MARKER}-${name}`, iat: now });
      expect((await service.post(LOGOUT_PATH, { logout_token: logout })).status).toBe(200);
    },
    told: told({ party: 'subject' }),
  },
];

const ENTRIES: readonly RefusalCase[] = [
  {
    reason: 'resource_not_allowed',
    policy: { resources: ['https://reports.example/api'] },
    token: plain,
    fields: () => ({ resource: `https://user:${MARKER}@reports.example/apis?key=${MARKER}` }),
    told: told({
      party: 'subject',
      expected: 'one of https://reports.example/api',
      found: 'https://reports.example/apis',
    }),
  },
];

const USERS: readonly RefusalCase[] = [
  {
    reason: 'email_domain_not_allowed',
    policy: { emailDomains: ['allowed.example', 'also.example'] },
    token: withClaims({ email: `${MARKER}@${PRIVATE_DOMAIN}` }),
    told: told({ expected: 'allowed.example, also.example', found: 'another domain' }),
  },
  {
    reason: 'linking_not_allowed',
    policy: { linkExistingUsers: false },
    before: (service, { email }) => createUser(service, { email }),
    token: plain,
    told: told({ userId: expect.any(String) }),
  },
  { reason: 'provisioning_not_allowed', policy: { provisionUsers: false }, token: plain, told: told({}) },
  {
    reason: 'project_unknown',
    policy: { projects: { mayAssign: ['fern-*'], roles: ['project:viewer'] } },
    token: withClaims({ projects: ['fern-1:project:viewer'] }),
    told: told({ expected: 'the key of a project', found: 'fern-1' }),
  },
  {
    reason: 'session_of_another_user',
    flow: 'embed',
    before: (service, { email }) => createUser(service, { email }),
    token: plain,
    fields: () => ({ userId: randomUUID() }),
    told: told({ userId: expect.any(String) }),
  },
];

/** The reason that only a bound session has: `bound-session.spec.ts` shows it. */
export const BOUND_SESSION_REASONS = ['session_ended'];

/** Reasons that other files show over HTTP. Unit tests compare their `expected` and `found`. */
export const SHOWN_ELSEWHERE = [
  'access_token_too_large',
  'act_for_not_allowed',
  'actor_not_allowed',
  'claims_not_storable',
  'email_missing',
  'email_not_verified',
  'key_set_unavailable',
  'origin_not_allowed',
  'owner_excluded',
  'privileged_linking_not_allowed',
  'privileged_user_not_allowed',
  'project_not_allowed',
  'project_role_not_allowed',
  'remaining_lifetime_too_short',
  'role_not_allowed',
  'role_not_assignable',
  'scope_not_allowed',
  'seats_exhausted',
  'stored_role_not_allowed',
  'token_replayed',
  'too_many_projects',
  'user_disabled',
];

export const REFUSAL_CASES: readonly RefusalCase[] = [...KEYS_AND_LOGOUTS, ...ENTRIES, ...USERS];

/** Names the case, and with it its partner. */
export function nameOf({ reason }: RefusalCase): string {
  return reason.replaceAll('_', '-');
}
