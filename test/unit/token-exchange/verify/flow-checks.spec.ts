// That no flow leaves a check out, and which logout tokens pass: each row changes one thing of a good one.
import type { Members } from '../../../../demo/partner.js';
import { Partner } from '../../../../demo/partner.js';
import { isTokenRefusal } from '../../../../src/token-exchange/refusals/oauth-refusal.js';
import type { PolicyDefaults } from '../../../../src/token-exchange/trust/entry-rules.js';
import { ExternalTokenVerifier } from '../../../../src/token-exchange/verify/external-token.verifier.js';
import { FLOW_CHECKS } from '../../../../src/token-exchange/verify/flow-checks.js';
import {
  ALLOWED_CLAIMS,
  ALLOWED_SUBJECT,
  DPOP_CONFIRMATION,
  MAPPED_ROLE,
  NAMED_TYPE,
  NO_LOGOUT,
} from '../../../../src/token-exchange/verify/token-checks.js';
import { LOGOUT_EVENT, logoutToken } from '../../../support/logout-tokens.js';
import { TestClock } from '../../../support/test-clock.js';
import { trustedKeysOf } from '../../../support/trusted-keys.js';

const NOW = 1_800_000_000;
const PARTNER = 'https://partner.example';
const PROVIDER = 'https://provider.example';
const AUDIENCE = 'https://instance.example';

const partner = Partner.create({ issuer: PARTNER, kid: 'own', audience: AUDIENCE });
/** Signs logouts alone, by a key of an entry of the partner. */
const provider = Partner.create({ issuer: PROVIDER, kid: 'providers', audience: 'client-of-provider' });
const providersEntry = provider.staticEntry({
  issuer: PARTNER,
  expectedAudience: AUDIENCE,
  logoutIssuer: PROVIDER,
  logoutAudience: 'client-of-provider',
  flows: ['logout'],
});

function verifierOf(entries: readonly object[], defaults: PolicyDefaults = 'contract') {
  const clock = new TestClock(NOW * 1000);
  const keys = trustedKeysOf(entries, clock, { baseUrl: AUDIENCE, defaults });
  return new ExternalTokenVerifier(keys, clock, {
    idAssertion: { enabled: false, maxLifetimeSeconds: 300 },
    clockToleranceSeconds: 5,
    strict: defaults === 'strict',
  });
}

const verifier = verifierOf([partner.staticEntry(), providersEntry]);

async function outcomeOf(token: string, by = verifier): Promise<string> {
  try {
    await by.verifyLogout(token);
    return 'accepted';
  } catch (error) {
    if (isTokenRefusal(error)) return error.reason;
    throw error;
  }
}

const good: Members = { sub: 'ada', iat: NOW - 5 };

it.each<[unknown, string]>([
  ['logout+jwt', 'accepted'],
  ['application/logout+jwt', 'accepted'],
  ['JWT', 'token_type_not_allowed'],
  [undefined, 'token_type_not_allowed'],
])(
  '[D130][P.strict] under the strict policy a logout token of the typ %s is judged %s',
  async (typ, outcome) => {
    const strict = { expectedAudience: AUDIENCE, allowedRoles: [], flows: ['logout'], emailDomains: ['*'] };
    const token = logoutToken(partner, good, { typ });
    expect(await outcomeOf(token, verifierOf([partner.staticEntry(strict)], 'strict'))).toBe(outcome);
    expect(await outcomeOf(token)).toBe('accepted');
  },
);

const event = (value: unknown) => ({ events: { [LOGOUT_EVENT]: value } });

describe('[D130] a logout token', () => {
  const CASES: readonly (readonly [string, string, Members, Members?])[] = [
    ['with sub', 'accepted', {}],
    ['with sid', 'accepted', { sub: undefined, sid: 'one' }],
    ['with both', 'accepted', { sid: 'one' }],
    ['without exp', 'accepted', { exp: undefined }],
    ['with the typ JWT, as many libraries write it', 'accepted', {}, { typ: 'JWT' }],
    ['without typ', 'accepted', {}, { typ: undefined }],
    ['five minutes old, without exp', 'token_expired', { iat: NOW - 300, exp: undefined }],
    ['not quite so old', 'accepted', { iat: NOW - 299, exp: undefined }],
    ['five minutes old, whatever its exp says', 'token_expired', { iat: NOW - 300, exp: NOW + 60 }],
    ['at its exp', 'token_expired', { exp: NOW }],
    ['from the future', 'token_issued_in_future', { iat: NOW + 6 }],
    ['before its nbf', 'token_not_yet_valid', { nbf: NOW + 6 }],
    ['with an nbf that is no time', 'claims_invalid', { nbf: 'now' }],
    ['with neither sub nor sid', 'claims_invalid', { sub: undefined }],
    ['with an empty sub', 'claims_invalid', { sub: '' }],
    ['with a number as sid', 'claims_invalid', { sid: 7 }],
    ['without jti', 'claims_invalid', { jti: undefined }],
    ['without iat', 'claims_invalid', { iat: undefined, exp: NOW + 60 }],
    ['without aud', 'claims_invalid', { aud: undefined }],
    ['without events: an external token', 'claims_invalid', { events: undefined }],
    ['with another event', 'claims_invalid', { events: { 'https://other.example': {} } }],
    ['with another event beside', 'claims_invalid', { events: { [LOGOUT_EVENT]: {}, other: {} } }],
    ['with an event that is no object', 'claims_invalid', event(true)],
    ['with nonce: an ID token that was given the event', 'claims_invalid', { nonce: 'n' }],
    ['with null as nonce, sid and nbf', 'accepted', { nonce: null, sid: null, nbf: null, exp: null }],
    ['with null as sub, beside a sid', 'accepted', { sub: null, sid: 'one' }],
    ['with null as event', 'claims_invalid', event(null)],
    ['with a text that cannot be stored', 'claims_not_storable', { sub: 'a\0' }],
    ['with a typ that has a parameter', 'token_type_not_allowed', {}, { typ: 'logout+jwt;x=y' }],
    ['of the typ of an access token', 'token_type_not_allowed', {}, { typ: 'at+jwt' }],
    ['for another audience', 'audience_mismatch', { aud: 'https://other.example' }],
    ['for the audience of the logouts of another entry', 'audience_mismatch', { aud: 'client-of-provider' }],
  ];
  for (const [name, outcome, members, header] of CASES)
    it(`${name}: ${outcome}`, async () => {
      expect(await outcomeOf(logoutToken(partner, { ...good, ...members }, header))).toBe(outcome);
    });

  it('is not an external token, with any typ', async () => {
    const token = logoutToken(partner, good);
    await expect(verifier.verify(token, 'exchange')).rejects.toThrow('token_type_not_allowed');
    const plain = logoutToken(partner, { ...good, email: 'ada@partner.example' }, { typ: 'JWT' });
    await expect(verifier.verify(plain, 'exchange')).rejects.toThrow('token_type_not_allowed');
  });
});

describe('[P.logoutIssuer] a provider that sends the logouts of a partner', () => {
  const ofProvider = (members: Members = {}) => logoutToken(provider, { ...good, ...members });

  it("is accepted with its own issuer, and ends logins of the entry's issuer", async () => {
    const { key, claims } = await verifier.verifyLogout(ofProvider());
    expect([key.policy.issuer, claims.iss]).toEqual([PARTNER, PROVIDER]);
  });

  it('[P.logoutAudience] may use either audience of the entry', async () => {
    const audiences = ['client-of-provider', AUDIENCE, 'https://other.example'];
    const outcomes = audiences.map((aud) => outcomeOf(ofProvider({ aud })));
    expect(await Promise.all(outcomes)).toEqual(['accepted', 'accepted', 'audience_mismatch']);
  });

  it('signs no user in', async () => {
    const login = provider.sign(provider.claims({ iat: NOW - 5, aud: AUDIENCE }));
    await expect(verifier.verify(login, 'embed')).rejects.toThrow('issuer_unknown');
    const asPartner = provider.sign(provider.claims({ iat: NOW - 5, aud: AUDIENCE, iss: PARTNER }));
    await expect(verifier.verify(asPartner, 'embed')).rejects.toThrow('flow_not_allowed');
  });

  it('is rejected by an entry that does not name it', async () => {
    const token = logoutToken(partner, { ...good, iss: PROVIDER });
    expect(await outcomeOf(token)).toBe('issuer_unknown');
  });
});

describe('[P.flows] an entry', () => {
  const strict = { allowedRoles: [], origins: ['https://product.example'], emailDomains: ['*'] };

  it.each<[string, Members, PolicyDefaults, string]>([
    ['that says nothing of flows', {}, 'contract', 'accepted'],
    ['that names other flows', { flows: ['embed', 'exchange'] }, 'contract', 'flow_not_allowed'],
    ['that names logout', { flows: ['embed', 'logout'] }, 'contract', 'accepted'],
    ['that says nothing, under the strict policy', strict, 'strict', 'flow_not_allowed'],
    [
      'that names it, under the strict policy',
      { ...strict, flows: ['embed', 'logout'] },
      'strict',
      'accepted',
    ],
  ])('%s', async (_, members, defaults, outcome) => {
    const by = verifierOf([partner.staticEntry(members)], defaults);
    expect(await outcomeOf(logoutToken(partner, good), by)).toBe(outcome);
  });
});

it.each(['embed', 'id-jag', 'jwt-bearer'] as const)(
  '[D3][D133] %s makes every check of an exchange, in the same order, some with rules of its own',
  (flow) => {
    const reasons = FLOW_CHECKS[flow].map(({ reason }) => reason);
    const ofExchange = FLOW_CHECKS.exchange.map(({ reason }) => reason);
    expect(reasons.slice(0, ofExchange.length)).toEqual(ofExchange);
  },
);

it('[D130] a logout makes the checks of an exchange that are not about access', () => {
  const aboutAccess: readonly unknown[] = [
    NAMED_TYPE,
    MAPPED_ROLE,
    NO_LOGOUT,
    DPOP_CONFIRMATION,
    ALLOWED_SUBJECT,
    ALLOWED_CLAIMS,
  ];
  const others = FLOW_CHECKS.exchange.filter((check) => !aboutAccess.includes(check));
  expect(FLOW_CHECKS.logout.map(({ reason }) => reason)).toEqual(others.map(({ reason }) => reason));
});
