// Reading the clients of an entry.
import { Partner } from '../../../../demo/partner.js';
import { readTrustedKeys } from '../../../../src/token-exchange/trust/trusted-key-entry.js';

const partner = Partner.create({ issuer: 'https://idp.example', audience: 'https://instance.example' });
const own = Partner.create({ issuer: 'client' });
const keys = own.jwks().keys;
const secretHash = 'a'.repeat(64);
const RULES = { assignableRoles: ['global:member'], allowHttp: false };

const read = (
  clients: unknown,
  policy: object = { flows: ['id-jag'], scopes: ['workflow:read'], linkPrivileged: false },
) => readTrustedKeys(JSON.stringify([partner.staticEntry({ ...policy, clients })]), RULES);

it.each([
  ['a secret', { secretHash }],
  ['two secrets', { secretHash: [secretHash, 'b'.repeat(64)] }],
  ['keys', { keys }],
  ['a key set', { jwksUrl: 'https://client.example/jwks.json' }],
])('[P.clients] a client may have %s', (_name, credential) => {
  const { entries, problems, warnings } = read([{ id: 'x', ...credential }]);
  expect([problems, warnings]).toEqual([[], []]);
  expect([...(entries[0]?.clients?.values() ?? [])]).toMatchObject([{ id: 'x' }]);
});

it('[P.clients] a client may use a metadata document at its id, and introspect', () => {
  const id = 'https://client.example/agent.json';
  const { entries } = read([{ id, metadataDocument: true, introspect: true }]);
  expect(entries[0]?.clients?.get(id)).toEqual({ id, documentUrl: id, introspect: true });
});

const EXACTLY_ONE =
  'clients[0]: must have an id and exactly one of keys, jwksUrl, secretHash, metadataDocument: public clients are refused';
const SECRETS =
  'clients[0]: secretHash must be a SHA-256 in 64 lower-case hexadecimal digits, or a list of two different ones, the older first';
const DOCUMENT =
  'clients[0]: id must be the URL of its metadata document as browsers write it, without a query and a fragment';

it.each<[string, unknown, string]>([
  ['no list', {}, 'clients: must be an array of at most 100 clients'],
  ['no object', ['x'], 'clients[0]: must be an object'],
  ['no id', [{ secretHash }], 'clients[0]: must have an id of 1 to 255 printable ASCII characters'],
  ['no credential', [{ id: 'x' }], EXACTLY_ONE],
  ['two credentials', [{ id: 'x', secretHash, keys }], EXACTLY_ONE],
  [
    'an id twice',
    [
      { id: 'x', secretHash },
      { id: 'x', keys },
    ],
    'clients[1]: has the id of another client',
  ],
  ...['x', [], ['x'], [secretHash, secretHash], ['a', 'b', 'c'].map((digit) => digit.repeat(64))].map(
    (hashes): [string, unknown, string] => [
      `${JSON.stringify(hashes).slice(0, 20)} as SHA-256`,
      [{ id: 'x', secretHash: hashes }],
      SECRETS,
    ],
  ),
  [
    'a document whose id is not a URL',
    [{ id: 'x', metadataDocument: true }],
    'clients[0]: id must be an https: URL where metadataDocument is true',
  ],
  ...['https://x.example', 'https://x.example/a/../b', 'https://x.example/?a', 'https://x.example/#a'].map(
    (id): [string, unknown, string] => [`a document at ${id}`, [{ id, metadataDocument: true }], DOCUMENT],
  ),
  ['a document and keys', [{ id: 'https://x.example/', metadataDocument: true, keys }], EXACTLY_ONE],
  ['no keys', [{ id: 'x', keys: [] }], 'clients[0]: keys must be an array of at least one public JWK'],
  [
    'a private key',
    [{ id: 'x', keys: [{ ...keys[0], d: 'x' }] }],
    `clients[0]: keys: key 0 (kid "${own.kid}") has private members`,
  ],
  [
    'an address with a query',
    [{ id: 'x', jwksUrl: 'https://x.example/?a' }],
    'clients[0]: jwksUrl must have neither a query nor a fragment',
  ],
])('[P.clients] rejects %s', (_name, clients, problem) => {
  expect(read(clients).problems).toEqual([`entry 0, ${problem}`]);
});

it.each([
  ['no client', { flows: ['id-jag'], scopes: [] }, [], /clients: is empty, so every/],
  ['clients without the flow', {}, [{ id: 'x', secretHash }], /clients: are of no use, since flows/],
])('[P.clients] warns of %s', (_name, policy, clients, warning) => {
  const { problems, warnings } = read(clients, policy);
  expect(problems).toEqual([]);
  expect(warnings).toContainEqual(expect.stringMatching(warning));
});

it('[P.clients] clients that introspect do not need identity assertions', () => {
  expect(read([{ id: 'x', secretHash, introspect: true }], { linkPrivileged: false }).warnings).toEqual([]);
});

it('[P.clients] an entry for only identity assertions needs no audience, even with the strict policy', () => {
  const policy = { flows: ['id-jag'], expectedAudience: undefined, allowedRoles: [], emailDomains: ['*'] };
  const ofScopes = (scopes?: string[]) =>
    JSON.stringify([partner.staticEntry({ ...policy, scopes, clients: [{ id: 'x', secretHash }] })]);
  const rules = { ...RULES, defaults: 'strict' as const };
  expect(readTrustedKeys(ofScopes(['workflow:read']), rules).problems).toEqual([]);
  expect(readTrustedKeys(ofScopes(), rules).problems).toEqual([WITHOUT_SCOPES]);
});

const WITHOUT_SCOPES =
  'entry 0, scopes: must be listed if flows has "id-jag": an assertion without a scope would get all rights of its user';

it('[P.scopes] an entry for identity assertions may list scopes', () => {
  expect(read([], { flows: ['embed', 'id-jag'] }).problems).toEqual([WITHOUT_SCOPES]);
  expect(read([], { flows: ['embed', 'exchange'] }).problems).toEqual([]);
});

const FOR_ASSERTIONS = { flows: ['id-jag'], scopes: ['workflow:read'], linkPrivileged: false };
const CLIENTS = [{ id: 'x', secretHash }];

it.each<[string, string, object, string]>([
  ['tenants', 'no tenant', { ...FOR_ASSERTIONS, tenants: [] }, 'must be a list of at least one tenant'],
  [
    'tenants',
    'tenants without the flow',
    { flows: ['exchange'], tenants: ['a'] },
    'is for identity assertions only, and flows does not list "id-jag"',
  ],
  [
    'clientChoosesResource',
    'a choice without resources',
    { ...FOR_ASSERTIONS, clientChoosesResource: true },
    'needs resources to choose from, and "id-jag" among flows',
  ],
  [
    'maxTokenTtlSeconds',
    'a lifetime of four seconds',
    { maxTokenTtlSeconds: 4 },
    'must be a whole number from 5 to 86400',
  ],
])('[P.%s] rejects %s', (member, _name, policy, problem) => {
  expect(read(CLIENTS, policy).problems).toContain(`entry 0, ${member}: ${problem}`);
});

it('[P.tenants] warns of several tenants', () => {
  const { problems, warnings } = read(CLIENTS, { ...FOR_ASSERTIONS, tenants: ['a', 'b'] });
  expect([problems, warnings]).toEqual([
    [],
    [expect.stringContaining('no two people may have the same sub')],
  ]);
});
