// Whether an entry lets an unknown identity in.
import {
  checkLink,
  checkProvisioning,
  checkSeats,
  linkableEmail,
} from '../../../../src/token-exchange/identity/admission-policy.js';
import type { TrustPolicy } from '../../../../src/token-exchange/trust/trusted-key.js';
import { readExternalClaims } from '../../../../src/token-exchange/verify/external-claims.js';

const [MEMBER, ADMIN, OWNER] = ['global:member', 'global:admin', 'global:owner'] as const;
const roles = { assignable: [MEMBER, ADMIN], owner: OWNER, initial: MEMBER };
const good = { iss: 'https://a.example', sub: 's', aud: 'us', iat: 1_000, exp: 1_050, jti: 'j' };

const policy = (members: Partial<TrustPolicy>): TrustPolicy => ({
  ...{ entryIndex: 0, label: 'entry-0', issuer: 'https://a.example' },
  ...members,
});
const user = (role: string) => ({ id: 'u', role, enabled: true, givenName: '', familyName: '' });
const refusal = (reason: string, context: object = expect.anything()) =>
  expect.objectContaining({ reason, context });
const emailIn = (claims: object, members: Partial<TrustPolicy> = {}) =>
  linkableEmail(readExternalClaims({ ...good, ...claims }), policy(members));

describe("an unknown user's e-mail address", () => {
  it.each([true, 'true'])('[P.requireVerifiedEmail] is sufficient if email_verified is %j', (isVerified) => {
    const claims = { email: 'ada@a.example', email_verified: isVerified };
    expect(emailIn(claims, { requireVerifiedEmail: true })).toBe('ada@a.example');
  });

  it.each([undefined, false, 'false', 'True', 1, null])(
    '[P.requireVerifiedEmail] is insufficient if email_verified is %j',
    (isVerified) => {
      const claims = { email: 'ada@a.example', email_verified: isVerified };
      const found = isVerified === undefined ? 'no email_verified' : 'another email_verified';
      expect(() => emailIn(claims, { requireVerifiedEmail: true })).toThrow(
        refusal('email_not_verified', { expected: 'email_verified true', found }),
      );
    },
  );

  it('[D5] is sufficient without email_verified, unless the entry requires it', () => {
    expect(emailIn({ email: 'ada@a.example' })).toBe('ada@a.example');
    expect(() => emailIn({ email: 'ada@a.example', email_verified: false })).toThrow('email_not_verified');
    const missing = refusal('email_missing', { expected: 'a claim email', found: 'none' });
    expect(() => emailIn({})).toThrow(missing);
  });

  it.each<[string, boolean]>([
    ['ada@product.example', true],
    ['ada@xn--bcher-kva.example', true],
    ['ada@bücher.example', true],
    ['ada@BÜCHER.example', true],
    ['ada@sub.product.example', false],
    ['ada@product.example.evil.example', false],
    ['ada@bucher.example', false],
    ['"ada@product.example"@evil.example', false],
  ])('[P.emailDomains] %s belongs to a listed domain: %s', (email, isListed) => {
    const emailDomains = new Set(['product.example', 'xn--bcher-kva.example']);
    const judge = () => emailIn({ email }, { emailDomains });
    if (isListed) expect(judge()).toBe(email);
    else expect(judge).toThrow(refusal('email_domain_not_allowed'));
  });
});

describe('linking an unknown identity', () => {
  it('[P.linkExistingUsers] can be refused for all', () => {
    for (const role of [MEMBER, ADMIN, OWNER])
      expect(() => checkLink(user(role), policy({ linkExistingUsers: false }), roles)).toThrow(
        refusal('linking_not_allowed', { userId: 'u' }),
      );
  });

  it.each<[string, string[] | undefined, boolean]>([
    [MEMBER, undefined, false],
    [ADMIN, undefined, true],
    [OWNER, undefined, true],
    ['support', undefined, true],
    [MEMBER, [MEMBER], true],
    [ADMIN, [MEMBER], false],
  ])('[P.linkPrivileged] can be refused for %s if %j are privileged: %s', (role, privileged, isRefused) => {
    const ofHost = { ...roles, privileged };
    const link = (members: object) => () => checkLink(user(role), policy(members), ofHost);
    expect(link({})).not.toThrow();
    const context = { userId: 'u', expected: 'a user without privileges', found: role };
    if (isRefused)
      expect(link({ linkPrivileged: false })).toThrow(refusal('privileged_linking_not_allowed', context));
    else expect(link({ linkPrivileged: false })).not.toThrow();
  });
});

describe('a new user', () => {
  it('[P.provisionUsers] can be refused', () => {
    const refused = policy({ provisionUsers: false });
    expect(() => checkProvisioning(refused)).toThrow(refusal('provisioning_not_allowed'));
    expect(() => checkProvisioning(policy({}))).not.toThrow();
  });

  it('[P.maxUsers] needs a free seat', () => {
    for (const seats of [undefined, { most: 2, taken: 1 }]) expect(() => checkSeats(seats)).not.toThrow();
    for (const taken of [2, 3])
      expect(() => checkSeats({ most: 2, taken })).toThrow(
        refusal('seats_exhausted', { expected: 'at most 2 users', found: `${taken} users, and a new one` }),
      );
  });
});
