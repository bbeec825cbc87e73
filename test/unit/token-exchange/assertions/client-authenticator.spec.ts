// Which clients authenticate, which of their assertions pass (each row changes one thing of a good one), and which credentials are read.
import type { Members } from '../../../../demo/partner.js';
import type {
  AuthenticatedClient,
  ClientCredentials,
} from '../../../../src/token-exchange/assertions/client-authenticator.js';
import {
  ClientAuthenticator,
  readClientCredentials,
} from '../../../../src/token-exchange/assertions/client-authenticator.js';
import type { ClientKeyProvider } from '../../../../src/token-exchange/assertions/client-keys.js';
import type { OAuthRefusal } from '../../../../src/token-exchange/refusals/oauth-refusal.js';
import { isTokenRefusal } from '../../../../src/token-exchange/refusals/oauth-refusal.js';
import { readJwks } from '../../../../src/token-exchange/trust/jwks-content.js';
import { ExternalTokenVerifier } from '../../../../src/token-exchange/verify/external-token.verifier.js';
import { BASE_URL } from '../../../support/base-url.js';
import { IdJagClient, sha256 } from '../../../support/id-jag-client.js';
import { TestClock } from '../../../support/test-clock.js';
import { trustedKeysOf } from '../../../support/trusted-keys.js';

const NOW = 1_800_000_000;
const OTHER = 'https://other.example';
const KEY_SET = 'https://published.example/jwks';

const desktop = new IdJagClient('desktop-client');
/** Registered by another company under the id of `desktop`, with another secret. */
const namesake = new IdJagClient('desktop-client');
const neighbour = new IdJagClient('neighbour', desktop.idp.issuer);
const tenanted = new IdJagClient('tenanted');
const signing = new IdJagClient('https://signing.example/client');
const twoKeys = new IdJagClient('two-keys');
const oldKid = twoKeys.keys.kid;
twoKeys.keys.rotate();
const published = new IdJagClient('published');
const rotating = new IdJagClient('rotating');
const [suspended, ended, ending] = ['suspended', 'ended', 'ending'].map((id) => new IdJagClient(id)) as [
  IdJagClient,
  IdJagClient,
  IdJagClient,
];
/** Has another secret in an entry of the same issuer, which is suspended. */
const former = new IdJagClient(desktop.id, desktop.idp.issuer);
const inspecting = (client: IdJagClient, entry: Members) =>
  client.entry({ resources: [OTHER], ...entry }, { secretHash: sha256(client.secret), introspect: true });
const iso = (seconds: number) => new Date(seconds * 1000).toISOString();

const clock = new TestClock(NOW * 1000);
const options = {
  clockToleranceSeconds: 5,
  ownIssuer: BASE_URL,
  strict: false,
  idAssertion: { enabled: true, maxLifetimeSeconds: 300 },
};
const keys = trustedKeysOf(
  [
    desktop.entry({
      clients: [desktop, neighbour].map(({ id, secret }) => ({ id, secretHash: sha256(secret) })),
    }),
    namesake.entry(),
    former.entry({ suspended: true }),
    tenanted.entry({ tenants: ['acme', 'our-acme'] }),
    signing.entry({}, { keys: signing.keys.jwks().keys }),
    twoKeys.entry({}, { keys: twoKeys.keys.jwks().keys }),
    published.entry({}, { jwksUrl: KEY_SET }),
    rotating.entry({ resources: [OTHER] }, { secretHash: [sha256('old'), sha256('new')], introspect: true }),
    inspecting(suspended, { suspended: true }),
    inspecting(ended, { notAfter: iso(NOW) }),
    inspecting(ending, { notAfter: iso(NOW + 1) }),
  ],
  clock,
);
const [fetched] = readJwks(Buffer.from(JSON.stringify(published.keys.jwks()))).keys;
const keySets = {
  keysAt: async (url: string, kid: unknown) =>
    url === KEY_SET && (kid === undefined || kid === fetched?.kid) ? [fetched] : [],
};
const authenticator = new ClientAuthenticator(keys, keySets as unknown as ClientKeyProvider, clock, options);

/** `accepted`, or the refusal. */
async function outcomeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'accepted';
  } catch (error) {
    if (isTokenRefusal(error)) return error.message;
    throw error;
  }
}

const jwt = (claims: Members = {}, header: Members = {}, client = signing) => ({
  id: client.id,
  assertion: client.jwt({ iat: NOW - 5, ...claims }, header),
});

describe('[D133] a client', () => {
  it.each<[string, ClientCredentials, object]>([
    ['its secret', desktop, { id: desktop.id, issuers: new Set([desktop.idp.issuer]) }],
    ['the secret of its namesake', namesake, { id: desktop.id, issuers: new Set([namesake.idp.issuer]) }],
    [
      'a JWT, whose replay record is of the client',
      jwt({ jti: 'j', exp: NOW + 50 }),
      {
        id: signing.id,
        issuers: new Set([signing.idp.issuer]),
        use: { jti: 'client:["https://signing.example/client","j"]', exp: NOW + 50 },
      },
    ],
  ])('authenticates by %s', async (_, sent, client) =>
    expect(await authenticator.authenticate(sent)).toEqual(client),
  );

  it('authenticates by either of two secrets, and may introspect by the entry with its credential', async () => {
    const issuers = new Set([rotating.idp.issuer]);
    const introspects = new Map([[rotating.idp.issuer, new Set([OTHER])]]);
    for (const secret of ['old', 'new'])
      expect(await authenticator.authenticate({ id: rotating.id, secret })).toEqual({
        ...{ id: rotating.id, issuers, introspects },
      });
    expect(await outcomeOf(authenticator.authenticate({ id: rotating.id, secret: 'x' }))).toMatch(/^client_/);
  });

  it('[D61] may introspect as long as its entry is trusted', async () => {
    const may = async (client: IdJagClient) => (await authenticator.authenticate(client)).introspects;
    expect(await Promise.all([suspended, ended, ending].map(may))).toEqual([
      undefined,
      undefined,
      new Map([[ending.idp.issuer, new Set([OTHER])]]),
    ]);
  });

  it('[D70] gets nothing by a credential in a suspended entry, even if the issuer is trusted', async () => {
    const { id, secret } = former;
    expect(await authenticator.authenticate({ id, secret })).toMatchObject({ issuers: new Set() });
  });

  it('does not learn the expected audience of its JWT; only the log contains it', async () => {
    const refusalOf = (aud: unknown) =>
      authenticator.authenticate(jwt({ aud })).catch((error: unknown) => (error as OAuthRefusal).context);
    const endpoint = `${BASE_URL}/rest/auth/oauth/token`;
    expect(await refusalOf(endpoint)).toMatchObject({ expected: BASE_URL, found: endpoint });
    expect(await refusalOf([BASE_URL, endpoint])).toMatchObject({ found: `${BASE_URL}, ${endpoint}` });
    expect(await refusalOf(7)).toMatchObject({ found: 'a number' });
    expect(await refusalOf([{ toString: 7, valueOf: 7 }, OTHER])).toMatchObject({
      found: `an object, ${OTHER}`,
    });
  });

  const INVALID = 'client_credential_invalid';
  it.each<[string, string, ClientCredentials | undefined]>([
    ['nothing', 'client_credential_missing', undefined],
    ['a secret under an unknown id', 'client_unknown', { id: 'x', secret: desktop.secret }],
    ['another secret', INVALID, { id: desktop.id, secret: neighbour.secret }],
    ['the hash as the secret', INVALID, { id: desktop.id, secret: sha256(desktop.secret) }],
    ['a secret, where it has a key', INVALID, { id: signing.id, secret: 'x' }],
    ['a JWT, where it has a secret', INVALID, jwt({}, {}, desktop)],
    ['a JWT without client_id', 'accepted', { ...jwt(), id: undefined }],
    ['a JWT of another client than client_id', INVALID, { ...jwt(), id: desktop.id }],
    ['a JWT of an unknown client', 'client_unknown', jwt({ iss: 'x', sub: 'x' }, {}, new IdJagClient('x'))],
    ['a JWT of another issuer', INVALID, jwt({ iss: OTHER })],
    ['a JWT whose sub is no text', INVALID, { ...jwt({ iss: 7, sub: 7 }), id: undefined }],
    ['no JWT', INVALID, { id: signing.id, assertion: 'x' }],
    ['a JWT without typ', 'accepted', jwt({}, { typ: undefined })],
    ['a JWT that says what it is', 'accepted', jwt({}, { typ: 'client-authentication+jwt' })],
    ['a JWT whose typ has a parameter', INVALID, jwt({}, { typ: 'JWT;x=y' })],
    ['a JWT of another type', INVALID, jwt({}, { typ: 'at+jwt' })],
    ['a JWT with crit', INVALID, jwt({}, { crit: ['exp'] })],
    ['a JWT of no known algorithm', INVALID, jwt({}, { alg: 'none' })],
    ['a JWT of an algorithm that its key does not serve', INVALID, jwt({}, { alg: 'RS256' })],
    ['a JWT of a kid that it has not', INVALID, jwt({}, { kid: 'x' })],
    ['a JWT without kid, by its only key', 'accepted', jwt({}, { kid: undefined })],
    ['a JWT by one of its keys', 'accepted', jwt({}, {}, twoKeys)],
    ['a JWT by one of its keys under the kid of another', INVALID, jwt({}, { kid: oldKid }, twoKeys)],
    ['a JWT by a key of its key set', 'accepted', jwt({}, {}, published)],
    ['a JWT without kid, by the only key of its set', 'accepted', jwt({}, { kid: undefined }, published)],
    ['a JWT of a kid that is not in its set', INVALID, jwt({}, { kid: 'x' }, published)],
    ['a JWT for another audience', INVALID, jwt({ aud: OTHER })],
    ['a JWT for the audience with a slash', 'accepted', jwt({ aud: `${BASE_URL}/` })],
    ['a JWT for the audience with a path', INVALID, jwt({ aud: `${BASE_URL}//` })],
    ['a JWT for a list of one audience', 'accepted', jwt({ aud: [BASE_URL] })],
    ['a JWT for two audiences', INVALID, jwt({ aud: [BASE_URL, OTHER] })],
    ['a JWT without exp', INVALID, jwt({ exp: undefined })],
    ['a JWT at its exp', INVALID, jwt({ exp: NOW })],
    ['a JWT for an hour', 'accepted', jwt({ exp: NOW + 3600 })],
    ['a JWT for over an hour', INVALID, jwt({ exp: NOW + 3600.5 })],
    ['a JWT without iat', 'accepted', jwt({ iat: undefined, exp: NOW + 50 })],
    ['a JWT with null as iat and nbf', 'accepted', jwt({ iat: null, nbf: null, exp: NOW + 50 })],
    ['a JWT within the tolerance', 'accepted', jwt({ iat: NOW + 5, nbf: NOW + 5 })],
    ['a JWT from the future', INVALID, jwt({ iat: NOW + 5.5 })],
    ['a JWT that is not valid yet', INVALID, jwt({ nbf: NOW + 5.5 })],
    ['a JWT whose iat is no number', INVALID, jwt({ iat: '1', exp: NOW + 50 })],
    ['a JWT whose nbf is no number', INVALID, jwt({ nbf: '1' })],
    ['a JWT without jti', INVALID, jwt({ jti: undefined })],
  ])('that sends %s gets %s', async (_, outcome, sent) =>
    expect(await outcomeOf(authenticator.authenticate(sent))).toMatch(new RegExp(`^${outcome}(:|$)`)),
  );
});

/** The claims that an identity assertion may have or not. */
const OPTIONAL = [
  ...['scope', 'resource', 'aud_sub', 'sub_id', 'tenant', 'aud_tenant', 'authorization_details', 'cnf'],
  ...['nbf', 'email', 'given_name', 'family_name', 'role', 'sid', 'act', 'may_act', 'events'],
];

describe('[D133][K36] an identity assertion', () => {
  const verifier = new ExternalTokenVerifier(keys, clock, options);
  const client = { id: desktop.id, issuers: new Set([desktop.idp.issuer]) };
  const verified = (members: Members, header: Members = {}, by: AuthenticatedClient | undefined = client) =>
    verifier.verify(desktop.assertion({ iat: NOW - 5, ...members }, header), 'id-jag', undefined, by);

  it.each<[string, string, Members, Members?, AuthenticatedClient?]>([
    ['of five minutes', 'accepted', { exp: NOW + 295 }],
    ['of over five minutes', 'token_lifetime_exceeded', { exp: NOW + 295.5 }],
    ['of its type with a parameter', 'token_type_not_allowed', {}, { typ: 'oauth-id-jag+jwt;x=y' }],
    ['of the type of an ID token', 'token_type_not_allowed', {}, { typ: 'JWT' }],
    ['without a type', 'token_type_not_allowed', {}, { typ: undefined }],
    ['for another audience', 'audience_mismatch', { aud: OTHER }],
    ['for the audience with a slash', 'accepted', { aud: `${BASE_URL}/` }],
    ['for two audiences', 'audience_mismatch', { aud: [BASE_URL, OTHER] }],
    ['for no audience', 'claims_invalid', { aud: [] }],
    ['of another client', 'client_not_allowed', { client_id: neighbour.id }],
    ['without a client', 'claims_invalid', { client_id: undefined }],
    [
      'by a client that its entry does not name',
      'client_not_allowed',
      { client_id: 'x' },
      {},
      { ...client, id: 'x' },
    ],
    ['by its namesake', 'client_not_allowed', {}, {}, { ...client, issuers: new Set([namesake.idp.issuer]) }],
    ['with rich authorization', 'assertion_not_supported', { authorization_details: [] }],
    ['of one tenant of several', 'tenant_not_allowed', { tenant: 'acme' }],
    ['for one tenant of this instance', 'tenant_not_allowed', { aud_tenant: 'acme' }],
    ['of a tenant that is no text', 'claims_invalid', { tenant: 7 }],
    ['with its id of this instance', 'accepted', { aud_sub: 'ada' }],
    ['with an id that is no text', 'claims_invalid', { aud_sub: 7 }],
    [
      'with another kind of subject',
      'assertion_not_supported',
      { sub_id: { format: 'email', email: 'a@b.example' } },
    ],
    ['with a subject that is no object', 'assertion_not_supported', { sub_id: 'iss_sub' }],
    [
      'with issuer and subject once more',
      'accepted',
      { sub: 'ada', sub_id: { sub: 'ada', iss: desktop.idp.issuer, format: 'iss_sub' } },
    ],
    ...[{ sub: 'eve' }, { iss: OTHER }, { email: 'a@b.example' }, { iss: undefined }].map(
      (change): [string, string, Members] => [
        `whose other subject has ${Object.keys(change).join()} of its own`,
        'claims_invalid: sub_id must say what iss and sub say',
        { sub: 'ada', sub_id: { format: 'iss_sub', iss: desktop.idp.issuer, sub: 'ada', ...change } },
      ],
    ),
    ...OPTIONAL.map((name): [string, string, Members] => [
      `with null as ${name}`,
      'accepted',
      { [name]: null },
    ]),
    ['with null inside of act', 'accepted', { act: { sub: 'agent', iss: null, act: null } }],
    ['with null in the place of an actor', 'claims_invalid', { act: { sub: null } }],
    ['with a list that has null', 'claims_invalid', { resource: [null] }],
    ['with a scope that is no text', 'claims_invalid', { scope: ['workflow:write'] }],
    ['with a longest scope', 'accepted', { scope: `workflow:read ${'s'.repeat(1010)}` }],
    [
      'with a longer scope',
      'claims_not_storable: scope has over 1024 characters',
      { scope: 's'.repeat(1025) },
    ],
    ['with a resource with a space', 'claims_invalid', { resource: [OTHER, 'a b'] }],
    ['with a list of no resources', 'claims_invalid', { resource: [] }],
    ['with an empty scope', 'claims_invalid: scope must not be empty', { scope: '' }],
    ['with longest resources', 'accepted', { resource: [BASE_URL, 'r'.repeat(2047 - BASE_URL.length)] }],
    ['for this instance in another spelling', 'accepted', { resource: `${BASE_URL.toUpperCase()}/` }],
    ['for another service alone', 'assertion_grants_nothing', { resource: OTHER }],
    ['for other scopes alone', 'assertion_grants_nothing', { scope: 'other:read' }],
    [
      'with longer resources',
      'claims_not_storable: resource has over 2048 characters',
      { resource: ['r'.repeat(1024), 'r'.repeat(1024)] },
    ],
  ])('%s: %s', async (_, outcome, ...sent) =>
    expect(await outcomeOf(verified(...sent))).toMatch(new RegExp(`^${outcome}(:|$)`)),
  );

  it.each<[Members, object]>([
    [{}, {}],
    [
      { scope: 'a workflow:read', resource: BASE_URL },
      { scope: 'a workflow:read', resource: [BASE_URL] },
    ],
    [{ resource: [OTHER, BASE_URL] }, { resource: [OTHER, BASE_URL] }],
    [{ aud_sub: 'ada' }, { localUserId: 'ada' }],
    [{ aud_sub: null, scope: null, resource: null, tenant: null, aud_tenant: null }, {}],
  ])('with %j is read as %j', async (members, said) =>
    expect((await verified(members)).assertion).toEqual({ clientId: desktop.id, ...said }),
  );

  it.each<[string, Members]>([
    ['accepted', { tenant: 'acme' }],
    ['accepted', { aud_tenant: 'our-acme' }],
    ['accepted', { tenant: 'acme', aud_tenant: 'our-acme' }],
    ['tenant_not_allowed', {}],
    ['tenant_not_allowed', { tenant: 'acm' }],
    ['tenant_not_allowed', { tenant: 'acme', aud_tenant: 'our-globex' }],
  ])('[P.tenants] of an entry with tenants is %s with %j', async (outcome, named) => {
    const token = tenanted.assertion({ iat: NOW - 5, ...named });
    const by = { id: tenanted.id, issuers: new Set([tenanted.idp.issuer]) };
    expect(await outcomeOf(verifier.verify(token, 'id-jag', undefined, by))).toBe(outcome);
  });

  it('[D5] with a null email_verified has an unverified address', async () =>
    expect((await verified({ email_verified: null })).claims.emailVerified).toBe(false));

  it('is rejected without a client', async () => {
    const token = desktop.assertion({ iat: NOW - 5 });
    expect(await outcomeOf(verifier.verify(token, 'id-jag'))).toBe('client_not_allowed');
  });

  it('[D80] is explained by checks of its own', async () => {
    const token = desktop.assertion({ iat: NOW - 5, exp: NOW + 300, tenant: 'acme', client_id: 'x' });
    const by = { id: neighbour.id, issuers: new Set<string>() };
    const results = await verifier.explain(token, 'id-jag', by);
    expect(results.filter(({ state }) => state === 'failed')).toMatchObject([
      { about: 'exp - iat', expected: '300 s at most', found: '305 s' },
      {
        about: 'tenant, aud_tenant',
        ...{ expected: 'none', found: 'acme' },
      },
      { about: 'client_id', expected: 'the client that has authenticated: neighbour', found: 'x' },
      { about: 'clients', expected: 'desktop-client, neighbour', found: 'neighbour' },
    ]);
    const unread = await verifier.explain(desktop.assertion({ iat: NOW - 5, client_id: 7 }), 'id-jag', by);
    expect(unread.map(({ state }) => state).slice(-6)).toEqual([
      ...['passed', 'failed', 'not-reached', 'not-reached', 'not-reached', 'not-reached'],
    ]);
    expect(unread.find(({ about }) => about === 'aud')).toMatchObject({
      expected: `${BASE_URL} alone`,
      found: BASE_URL,
    });
  });
});

const read = (credential: string) =>
  readClientCredentials({ get: () => undefined }, `Basic ${btoa(credential)}`);

function detailOf(work: () => unknown): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (isTokenRefusal(error)) return error.context.detail;
    throw error;
  }
}

it.each([
  ['a:b', { id: 'a', secret: 'b' }],
  ['a%3Ab:c+d', { id: 'a:b', secret: 'c d' }],
  ['https%3A%2F%2Fa.example:s', { id: 'https://a.example', secret: 's' }],
])('[D133] the Basic credential %s is read', (credential, sent) => expect(read(credential)).toEqual(sent));

const NOT_ENCODED = 'the Basic credential is not form-encoded (RFC 6749 §2.3.1)';
it.each([
  ['https://a.example/client:secret', `${NOT_ENCODED}: the colon of its id must be %3A`],
  ['a:100%', `${NOT_ENCODED}: a percent sign must be %25`],
  ['a', 'the Authorization header is no Basic credential'],
  [':b', 'the Authorization header is no Basic credential'],
])('[D133] the log reports why %s cannot be read', (credential, detail) =>
  expect(detailOf(() => read(credential))).toBe(detail),
);
