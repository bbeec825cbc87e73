// The properties of an entry's policy, their defaults, and the error messages.
import { Partner } from '../../../../demo/partner.js';
import type { PolicyDefaults } from '../../../../src/token-exchange/trust/entry-rules.js';
import { policyInWords } from '../../../../src/token-exchange/trust/policy-checks.js';
import { readTrustedKeys } from '../../../../src/token-exchange/trust/trusted-key-entry.js';

const MARKER = 'marker-5150';
const issuer = 'https://login.partner.example';
const BASE_URL = 'https://instance.example';
const ENTRY = Partner.create({ issuer, kid: 'k1' }).staticEntry();
const SAFE = { expectedAudience: BASE_URL, linkPrivileged: false };
const STRICT = {
  expectedAudience: BASE_URL,
  allowedRoles: ['global:member'],
  origins: ['https://product.example'],
  emailDomains: ['*'],
  scopes: ['workflow:read'],
};

function read(
  members: object,
  defaults: PolicyDefaults = 'contract',
  { projectRoles }: { projectRoles?: string[] } = { projectRoles: ['viewer', 'editor'] },
) {
  const rules = {
    assignableRoles: ['global:member', 'global:admin'],
    privilegedRoles: ['global:admin', 'global:owner'],
    allowHttp: false,
    defaults,
    baseUrl: BASE_URL,
    scopes: ['workflow:read', 'workflow:write'],
    projectRoles,
  };
  return readTrustedKeys(JSON.stringify([{ ...ENTRY, ...members }]), rules);
}
const policyOf = (members: object, defaults?: PolicyDefaults) => read(members, defaults).entries[0];
const membersOf = (lines: readonly string[]) => lines.map((line) => /^entry 0, (\w+): /.exec(line)?.[1]);

describe('policy properties', () => {
  it.each<[string, unknown, unknown]>([
    ['flows', ['exchange', 'embed'], new Set(['exchange', 'embed'])],
    ['notAfter', '2030-12-31', new Date('2031-01-01T00:00:00Z')],
    ['notAfter', '2030-12-31T18:00:00Z', new Date('2030-12-31T18:00:00Z')],
    ['notAfter', '2030-12-31T18:00:00.5+02:00', new Date('2030-12-31T16:00:00.500Z')],
    ['perMinute', 1_000_000, 1_000_000],
    ['maxUsers', 100_000, 100_000],
    ['logoutAudience', 'us', 'us'],
    ['logoutIssuer', 'https://login.example', 'https://login.example'],
    ['excludeOwner', true, true],
    ['mayExplain', true, true],
    ['requireVerifiedEmail', false, false],
    [
      'emailDomains',
      ['Product.EXAMPLE', 'bücher.example'],
      new Set(['product.example', 'xn--bcher-kva.example']),
    ],
    ['emailDomains', ['*'], new Set(['*'])],
    ['linkExistingUsers', false, false],
    ['linkPrivileged', true, true],
    ['provisionUsers', false, false],
    ['projects', {}, { claim: 'projects', create: false }],
    [
      'projects',
      {
        mayAssign: ['acme-*', 'exact', '*'],
        roles: ['editor'],
        create: true,
        claim: 'https://a.example/teams',
      },
      {
        mayAssign: new Set(['acme-*', 'exact', '*']),
        roles: new Set(['editor']),
        create: true,
        claim: 'https://a.example/teams',
      },
    ],
    ['typ', 'at+jwt', 'at+jwt'],
    ['uniqueId', 'token-hash', 'token-hash'],
    ['roleClaim', 'https://a.example/roles', 'https://a.example/roles'],
    ['roleMap', { Staff: 'global:member' }, new Map([['Staff', 'global:member']])],
    ['actFor', [], new Set()],
    ['actFor', [issuer, 'https://b.example/'], new Set([issuer, 'https://b.example/'])],
    ['requireActor', true, true],
    ['rights', 'both', 'both'],
    ['scopes', [], new Set()],
    ['scopes', ['workflow:read', 'https://s.example/a'], new Set(['workflow:read', 'https://s.example/a'])],
    [
      'resources',
      ['https://api.example/v1', 'urn:example:svc'],
      new Set(['https://api.example/v1', 'urn:example:svc']),
    ],
  ])('[P.%s] %s is read from %j', (member, value, expected) => {
    const { entries, problems } = read({ [member]: value });
    expect(problems).toEqual([]);
    expect(entries[0]).toHaveProperty(member, expected);
  });

  it.each<[string, readonly unknown[]]>([
    ['flows', [[], ['web'], ['EMBED'], 'embed', [1], null, { embed: true }]],
    [
      'notAfter',
      ['2030-02-30', '2030-13-01', '30-01-01', '2030-12-31T18:00:00', '31.12.2030', MARKER, '', 5150, null],
    ],
    ['perMinute', [0, -1, 1.5, 1_000_001, '5150', null, true]],
    ['maxUsers', [0, -1, 1.5, 100_001, '5150', null, true]],
    ['roleCeiling', ['true', 1, null, []]],
    ['excludeOwner', ['true', 0, null]],
    ['mayExplain', ['true', 1, null]],
    ['requireVerifiedEmail', ['true', 0, null]],
    [
      'emailDomains',
      [[], ['@marker.example'], ['*.marker.example'], ['*', 'b.example'], ['b\u00ad.example'], null],
    ],
    ['linkExistingUsers', ['false', 0, null]],
    ['linkPrivileged', ['false', 0, null]],
    ['provisionUsers', ['false', 0, null]],
    ['typ', ['JWT', MARKER, ['at+jwt'], '', null]],
    ['uniqueId', ['sub', 'JTI', MARKER, ['jti'], true, null]],
    ['roleClaim', ['sub', 'uti', '', ['role'], 5150, null]],
    [
      'roleMap',
      [
        {},
        [],
        'global:member',
        null,
        { [MARKER]: '' },
        { '': 'global:member' },
        { [MARKER]: 5150 },
        { [MARKER]: 'global:owner' },
        { 5150: 'global:member' },
        { [MARKER]: 'global:admin' },
        Object.fromEntries(
          Array.from({ length: 101 }, (_, index) => [`${MARKER}-${index}`, 'global:member']),
        ),
      ],
    ],
    ['actFor', [[MARKER], [''], ['https://a.example\0'], issuer, [5150], null]],
    ['requireActor', ['true', 1, null]],
    ['rights', ['subject', 'BOTH', ['both'], true, null]],
    ['scopes', [[''], ['a b'], ['"'], ['a\\b'], ['ä'], 'workflow:read', [5150], null]],
    ['scopes', [Array.from({ length: 129 }, (_, index) => `scope-${String(index).padStart(2, '0')}`)]],
    ['resources', [['/path'], ['https://a.example/#f'], ['https://a.example/ b'], [MARKER], null]],
    ['resources', [[BASE_URL], [`${BASE_URL}/`], ['https://api.example', BASE_URL]]],
    ['issuer', [BASE_URL, `${BASE_URL}/`]],
    ['logoutIssuer', [BASE_URL, `${BASE_URL}/`, MARKER, '', 5150, null]],
  ])('[P.%s] %s that breaks its rule is one problem, reported without its value', (member, values) => {
    for (const value of values) {
      const { entries, problems } = read({ [member]: value, allowedRoles: ['global:member'] });
      expect([value, entries]).toEqual([value, []]);
      expect([value, membersOf(problems)]).toEqual([value, [member]]);
      expect(problems[0]).not.toMatch(/marker|5150/);
    }
  });

  it.each<[string, unknown]>([
    ['projects', null],
    ['projects.mayAssign', { mayAssign: [] }],
    ['projects.mayAssign', { mayAssign: ['a*b'] }],
    ['projects.mayAssign', { mayAssign: ['k'.repeat(129)] }],
    ['projects.roles', { roles: ['owner'] }],
    ['projects.create', { create: 'yes' }],
    ['projects.claim', { claim: 'sub' }],
    ['projects.claim', { claim: 'scope' }],
    ['projects."mayassign"', { mayassign: ['acme'] }],
  ])('[P.projects] a problem of %s is reported under the name %j', (member, projects) => {
    const { entries, problems } = read({ projects });
    expect(entries).toEqual([]);
    expect(problems).toEqual([expect.stringMatching(`^entry 0, ${member}: `)]);
  });

  it('[P.projects] projects are for hosts with projects', () => {
    expect(membersOf(read({ projects: {} }, 'contract', {}).problems)).toEqual(['projects']);
  });

  it('[P.projects] projects under the strict policy must list projects and roles', () => {
    const { problems } = read({ ...STRICT, projects: { create: true } }, 'strict');
    expect(problems).toEqual([
      'entry 0, projects.mayAssign: is required by the strict policy',
      'entry 0, projects.roles: is required by the strict policy',
    ]);
    expect(read({ ...STRICT, projects: { mayAssign: ['*'], roles: ['editor'] } }, 'strict').problems).toEqual(
      [],
    );
  });

  it('[P.flows] a misspelt value is reported with the nearest and all known values', () => {
    expect(read({ flows: ['embed', 'exchnage'] }).problems).toEqual([
      'entry 0, flows: must be a list of some of exchange, embed, id-jag, jwt-bearer, logout (did you mean exchange?)',
    ]);
  });

  it('[P.typ] typ is for tokens of the two flows that accept access tokens', () => {
    for (const flow of ['id-jag', 'jwt-bearer'])
      expect(membersOf(read({ typ: 'at+jwt', flows: [flow], scopes: ['workflow:read'] }).problems)).toEqual([
        'typ',
      ]);
    expect(read({ typ: 'at+jwt', flows: ['embed', 'exchange', 'logout'] }).problems).toEqual([]);
  });

  it('[P.roleClaim] roleClaim cannot be the projects claim', () => {
    const projects = { claim: 'teams' };
    expect(membersOf(read({ roleClaim: 'teams', projects }).problems)).toEqual(['roleClaim']);
    expect(read({ roleClaim: 'roles', projects }).problems).toEqual([]);
  });

  it('[P.roleMap] roleMap maps to roles that the entry allows', () => {
    const roleMap = { Admins: 'global:admin', Staff: 'global:member' };
    expect(membersOf(read({ roleMap, allowedRoles: ['global:member'] }).problems)).toEqual(['roleMap']);
    expect(read({ roleMap, allowedRoles: ['global:member', 'global:admin'] }).problems).toEqual([]);
  });

  it('[P.roleCeiling] roleCeiling must be one of the roles', () => {
    expect(membersOf(read({ roleCeiling: true }).problems)).toEqual(['roleCeiling']);
    expect(read({ roleCeiling: true, allowedRoles: [] }).problems).toEqual([]);
    expect(read({ roleCeiling: false }).problems).toEqual([]);
  });
});

describe('an incomplete entry', () => {
  it("[P.strict] has the contract's defaults without the strict policy", () => {
    const {
      type,
      key,
      url,
      issuer: from,
      entryIndex,
      label,
      ...said
    } = { url: '', ...policyOf({})! } as Record<string, unknown>;
    expect([type, key === undefined, url, from, entryIndex, label]).toEqual([
      'static',
      false,
      '',
      issuer,
      0,
      'entry-0',
    ]);
    expect(Object.entries(said).filter(([, value]) => value !== undefined)).toEqual([]);
  });

  it('[P.strict] has strict defaults under the strict policy', () => {
    expect(policyOf(STRICT, 'strict')).toMatchObject({
      flows: new Set(['embed', 'exchange']),
      requireVerifiedEmail: true,
      linkExistingUsers: false,
      linkPrivileged: false,
      provisionUsers: true,
      roleCeiling: true,
      excludeOwner: true,
      actFor: new Set(),
      rights: 'both',
      resources: new Set(),
    });
    expect(policyOf({ ...STRICT, scopes: undefined }, 'strict')).toMatchObject({ scopes: new Set() });
    for (const member of ['notAfter', 'perMinute', 'maxUsers', 'requireActor'])
      expect(policyOf(STRICT, 'strict')).not.toHaveProperty(member, expect.anything());
  });

  it('[P.strict] may link to users of listed domains under the strict policy', () => {
    const listed = { ...STRICT, emailDomains: ['product.example'] };
    expect(policyOf(listed, 'strict')).toMatchObject({ linkExistingUsers: true, linkPrivileged: false });
    expect(read({ ...listed, linkExistingUsers: true }, 'strict').warnings).toEqual([]);
  });

  it.each(['expectedAudience', 'allowedRoles', 'origins', 'emailDomains'])(
    '[P.strict][5.5.1][5.5.2][P.emailDomains] is rejected without %s',
    (member) => {
      expect(membersOf(read({ ...STRICT, [member]: undefined }, 'strict').problems)).toEqual([member]);
    },
  );

  it('[P.strict][P.emailDomains] needs no domains if no user is linked or created by e-mail', () => {
    const silent = { ...STRICT, emailDomains: undefined };
    expect(read({ ...silent, provisionUsers: false }, 'strict').problems).toEqual([]);
    const linking = { ...silent, provisionUsers: false, linkExistingUsers: true };
    expect(membersOf(read(linking, 'strict').problems)).toEqual(['emailDomains']);
    expect(read({ ...silent, allowedRoles: ['global:member'] }).problems).toEqual([]);
  });

  it.each<[string, unknown]>([
    ['requireVerifiedEmail', false],
    ['linkExistingUsers', true],
    ['linkPrivileged', true],
    ['roleCeiling', false],
    ['excludeOwner', false],
    ['rights', 'actor'],
  ])('[P.strict] may weaken %s, which causes a warning', (member, value) => {
    const { entries, problems, warnings } = read({ ...STRICT, [member]: value }, 'strict');
    expect(problems).toEqual([]);
    expect(entries[0]).toHaveProperty(member, value);
    expect(membersOf(warnings)).toEqual([member]);
  });

  it.each<[string, unknown]>([
    ['linkExistingUsers', false],
    ['linkPrivileged', false],
    ['provisionUsers', false],
    ['roleCeiling', true],
    ['excludeOwner', true],
    ['rights', 'both'],
    ['requireActor', true],
    ['actFor', [issuer]],
    ['resources', ['https://api.example']],
  ])(
    '[P.strict] may set a %s that is as strict, or that grants something, without a warning',
    (member, value) => {
      expect(read({ ...STRICT, [member]: value }, 'strict').warnings).toEqual([]);
    },
  );

  it('[D54] in the store excludes the owner and links to administrators by default', () => {
    expect(policyOf({}, 'stored')).toMatchObject({ linkPrivileged: false, excludeOwner: true });
    expect(policyOf({ excludeOwner: false, linkPrivileged: true }, 'stored')).toMatchObject({
      linkPrivileged: true,
      excludeOwner: false,
    });
  });
});

describe('an operator', () => {
  it.each<[string, object, string[]]>([
    ['an entry for any audience', { linkPrivileged: false }, ['expectedAudience']],
    ['one that may link to administrators', { expectedAudience: BASE_URL }, ['linkPrivileged']],
    [
      'none whose ceiling keeps administrators out',
      { expectedAudience: BASE_URL, roleCeiling: true, allowedRoles: ['global:member'] },
      [],
    ],
    [
      'one whose ceiling lets administrators in',
      { expectedAudience: BASE_URL, roleCeiling: true, allowedRoles: ['global:admin'] },
      ['linkPrivileged'],
    ],
    [
      'one that asks for an actor whom its own key can sign',
      { ...SAFE, requireActor: true },
      ['requireActor'],
    ],
    ['none whose actors are others’', { ...SAFE, requireActor: true, actFor: ['https://b.example'] }, []],
    ['one that grants nothing', { ...SAFE, scopes: [] }, ['scopes']],
    ['scopes that nobody asks for', { ...SAFE, scopes: ['workflow:red'] }, ['scopes']],
    [
      'none that another service may ask for',
      { ...SAFE, scopes: ['x'], resources: ['https://a.example'] },
      [],
    ],
  ])('[D54] is warned of %s', (_, members, warned) => {
    expect(membersOf(read(members).warnings)).toEqual(warned);
  });
});

describe('a policy description', () => {
  const now = new Date('2027-01-01T00:00:00Z');
  const wordsOf = (members: object, defaults?: PolicyDefaults) =>
    policyInWords(policyOf(members, defaults)!, now);

  it('[P.strict] lists what is allowed without a policy', () => {
    expect(wordsOf({})).toEqual([
      'tokens for any audience',
      'logins posted by any page',
      "may assign every role but the owner's",
      'lets the owner in too',
      'may link to existing users, including administrators, by e-mail',
      'may create users',
      'may act for any subject',
      "an actor's call has the actor's rights",
      'every scope',
    ]);
  });

  it('[P.strict] describes the limits of a strict policy', () => {
    expect(
      wordsOf(
        { ...STRICT, emailDomains: ['product.example'], perMinute: 60, notAfter: '2026-12-31' },
        'strict',
      ),
    ).toEqual([
      'embed and exchange only',
      'nothing since 2027-01-01T00:00:00Z',
      '60 a minute',
      'may assign global:member',
      'signs in users with global:member only',
      'never the owner',
      'may link to existing users, but not to administrators, by verified e-mail of product.example',
      'may create users of product.example',
      'may act for no subject',
      "an actor's call needs the rights of both",
      'access tokens with the scopes workflow:read',
      'no other service',
    ]);
  });

  it.each<[object, string]>([
    [{ flows: ['embed'] }, 'embed only'],
    [{ mayExplain: true }, 'may ask why its tokens are refused'],
    [{ flows: ['embed', 'exchange', 'logout'] }, 'embed, exchange and logout only'],
    [{ notAfter: '2030-12-31' }, 'until 2031-01-01T00:00:00Z'],
    [{ typ: 'at+jwt' }, 'only tokens of the type at+jwt'],
    [{ uniqueId: 'uti' }, 'once by uti, if there is no jti'],
    [{ roleMap: { Staff: 'global:member' } }, 'takes roles from Staff'],
    [{ allowedRoles: [] }, 'may assign no role'],
    [{ maxUsers: 1 }, 'at most 1 user of the issuer'],
    [{ requireActor: true }, 'never without an actor'],
    [{ scopes: [] }, 'no scope, so no token exchange'],
  ])('reports %j', (members, words) => {
    expect(wordsOf(members)).toContain(words);
  });
});
