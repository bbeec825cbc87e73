// Which trusted key entries are accepted, and the error messages for others.
import { generateKeyPairSync } from 'node:crypto';
import { Partner } from '../../../../demo/partner.js';
import { SIGNING_ALGORITHMS } from '../../../../demo/signing-key.js';
import { maxUsersOf } from '../../../../src/token-exchange/trust/trusted-key.js';
import { readTrustedKeys } from '../../../../src/token-exchange/trust/trusted-key-entry.js';

/** Stands in every bad value, so that a message that repeats a value shows it. */
const MARKER = 'marker-5150';
const issuer = 'https://login.partner.example';

const partner = Partner.create({ issuer, kid: 'k1' });
const ed = Partner.create({ issuer, algorithm: 'EdDSA' });
const rsa = Partner.create({ issuer, algorithm: 'RS256' });
const ec = { type: 'static', kid: 'k1', algorithms: ['ES256'], key: partner.publicKeyPem(), issuer };
const jwks = { type: 'jwks', url: 'https://login.partner.example/jwks', issuer };

const RULES = { assignableRoles: ['global:member', 'global:admin'], allowHttp: false };
const readText = (text: string, rules = RULES) => readTrustedKeys(text, rules);
const read = (...entries: unknown[]) => readText(JSON.stringify(entries));

const spki = (key: ReturnType<typeof generateKeyPairSync>['publicKey']) =>
  key.export({ type: 'spki', format: 'pem' }).toString();
const smallRsa = generateKeyPairSync('rsa', { modulusLength: 1024 });
const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' });

describe('accepted entries', () => {
  it.each(SIGNING_ALGORITHMS)('[2.1.static.algorithms] include a static key for %s', (algorithm) => {
    const entry = Partner.create({ issuer, algorithm, kid: 'k1' }).staticEntry();
    const { entries, problems } = read(entry);
    expect(problems).toEqual([]);
    expect(entries).toMatchObject([
      { type: 'static', issuer, key: { kid: 'k1', algorithms: new Set([algorithm]) } },
    ]);
  });

  it.each([
    ['RS256', 'RS384', 'RS512'],
    ['PS512', 'PS256'],
  ])('[2.1.static.algorithms] include several algorithms of one family', (...algorithms) => {
    expect(read(rsa.staticEntry({ algorithms })).problems).toEqual([]);
  });

  it('[2.1.static.key] include RSA keys in PKCS #1, and PEM with blank lines around it', () => {
    const pkcs1 = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey;
    const key = `\n${pkcs1.export({ type: 'pkcs1', format: 'pem' }).toString()}\n`;
    expect(read(rsa.staticEntry({ key })).problems).toEqual([]);
  });

  it('[2.1.issuer][2.1.static.kid] include an issuer and a kid of 512 bytes', () => {
    expect(read({ ...ec, issuer: issuer.padEnd(512, '/x'), kid: 'k'.repeat(512) }).problems).toEqual([]);
  });

  it('[2.1] include static and JWKS entries together, in their order', () => {
    const { entries, problems } = read(jwks, ec, { ...jwks, url: `${jwks.url}/2` });
    expect(problems).toEqual([]);
    expect(entries.map(({ type, entryIndex }) => [type, entryIndex])).toEqual([
      ['jwks', 0],
      ['static', 1],
      ['jwks', 2],
    ]);
  });

  it('[2.1] [D54] may be empty, which causes a warning', () =>
    expect(readText('[]')).toEqual({
      entries: [],
      problems: [],
      warnings: ['is empty: every token is refused'],
    }));

  it('[D32] with allowedRoles [] allow no role, unlike entries without it', () => {
    const { entries, problems } = read({ ...ec, allowedRoles: [] });
    expect(problems).toEqual([]);
    expect(entries[0]?.allowedRoles).toEqual(new Set());
  });

  it.each([60, 3600, 86_400])('[2.1.jwks.cacheTtlSeconds] may have %d seconds', (cacheTtlSeconds) => {
    expect(read({ ...jwks, cacheTtlSeconds }).entries).toMatchObject([{ cacheTtlSeconds }]);
  });

  it('[2.1.jwks.url] may have an http: URL if that is allowed', () => {
    const text = JSON.stringify([{ ...jwks, url: 'http://localhost:1/jwks' }]);
    expect(readText(text, { ...RULES, allowHttp: true }).problems).toEqual([]);
  });
});

describe('invalid properties', () => {
  it.each<[string, object]>([
    ['[2.1.type] type', { ...ec, type: MARKER }],
    ['[2.1.type] type', { ...ec, type: undefined }],
    ['[2.1.static.kid] kid', { ...ec, kid: undefined }],
    ['[2.1.static.kid] kid', { ...ec, kid: `${MARKER}\0` }],
    ['[2.1.static.kid] kid', { ...ec, kid: MARKER.padEnd(513, 'k') }],
    ['[2.1.static.algorithms] algorithms', { ...ec, algorithms: undefined }],
    ['[2.1.static.algorithms] algorithms', { ...ec, algorithms: [] }],
    ['[2.1.static.algorithms] algorithms', { ...ec, algorithms: ['Ed25519'] }],
    ['[2.1.static.algorithms] algorithms', rsa.staticEntry({ algorithms: ['RS256', 'PS256'] })],
    ['[5.2.2] algorithms', { ...ec, algorithms: ['HS256'] }],
    ['[5.2.2] algorithms', { ...ec, algorithms: ['none'] }],
    ['[2.1.static.key] key', { ...ec, key: undefined }],
    ['[2.1.static.key] key', { ...ec, key: MARKER }],
    [
      '[2.1.static.key] key',
      { ...ec, key: `-----BEGIN PUBLIC KEY-----\n${MARKER}\n-----END PUBLIC KEY-----` },
    ],
    ['[D32] key', { ...ec, key: `${partner.publicKeyPem()}{"d":"${MARKER}"}` }],
    ['[D32] key', { ...ec, key: spki(p384.publicKey) }],
    ['[D32] key', rsa.staticEntry({ key: partner.publicKeyPem() })],
    ['[D32] key', rsa.staticEntry({ key: spki(smallRsa.publicKey) })],
    ['[2.1.issuer] issuer', { ...ec, issuer: '' }],
    ['[2.1.issuer] issuer', { ...jwks, issuer: MARKER }],
    ['[2.1.issuer] issuer', { ...ec, issuer: `${issuer}/${MARKER}\udc00` }],
    ['[2.1.issuer] issuer', { ...ec, issuer: `${issuer}/${MARKER}`.padEnd(513, 'x') }],
    ['[2.1.jwks.url] url', { ...jwks, url: MARKER }],
    ['[2.1.jwks.url] url', { ...jwks, url: `http://${MARKER}.example/` }],
    ['[2.1.jwks.url] url', { ...jwks, url: `https://user:${MARKER}@login.example/` }],
    ['[2.1.jwks.cacheTtlSeconds] cacheTtlSeconds', { ...jwks, cacheTtlSeconds: 59 }],
    ['[2.1.jwks.cacheTtlSeconds] cacheTtlSeconds', { ...jwks, cacheTtlSeconds: 86_401 }],
    ['[2.1.expectedAudience] expectedAudience', { ...ec, expectedAudience: [MARKER] }],
    ['[2.1.allowedRoles] allowedRoles', { ...ec, allowedRoles: 'global:member' }],
    ['[2.1.allowedRoles] allowedRoles', { ...ec, allowedRoles: [MARKER, 5150] }],
    ['[D32] allowedRole', { ...ec, allowedRole: [MARKER] }],
  ])('%s is one problem, reported without its value', (title, entry) => {
    const [, member = ''] = title.split(' ');
    const { entries, problems } = read(entry);
    expect(entries).toEqual([]);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(new RegExp(`^entry 0, "?${member}"?: `));
    expect(problems[0]).not.toMatch(/marker|5150|[A-Za-z\d+/]{32}/);
  });
  it.each<[string, object, string]>([
    ['alowedRoles', { ...ec, alowedRoles: [] }, '(did you mean allowedRoles?)'],
    ['marker', { ...ec, marker: 1 }, 'is not a known member; known are type, issuer, '],
    ['a long one', { ...ec, ['m'.repeat(40)]: 1 }, `entry 0, "${'m'.repeat(31)}: is not a known member`],
    ['kid', { ...ec, kid: `${'é'.repeat(256)}x` }, 'must have at most 512 bytes'],
    ['kid', { ...jwks, kid: MARKER }, 'is a member of the other type; known are type, issuer, '],
    ['url', { ...ec, url: MARKER }, 'is a member of the other type; known are type, issuer, '],
    ['key', { ...ec, key: 'keys/partner.pem' }, 'must be a PEM public key: it looks like a file path'],
    ['key', { ...ec, key: partner.publicKeyPem().replaceAll('\n', '') }, 'it is a damaged public key'],
    [
      'key',
      { ...ec, key: partner.privateKeyPem() },
      'must be a PEM public key: it is a private key, which only its owner may have. The owner must create a new key, and send the output of openssl pkey -pubout -in FILE',
    ],
    ['url', { ...jwks, url: 'http://a.example/' }, 'must be an https: URL; jwks.allowHttp allows http:'],
    ['url', { ...jwks, url: `https://${MARKER}@a.example/` }, 'must not contain a user name or password'],
  ])('[D32] the problem of %s says how to correct it: %j', (_, entry, text) => {
    const { problems } = read(entry);
    expect(problems).toEqual([expect.stringContaining(text)]);
    expect(problems[0]).not.toContain(MARKER);
  });

  it("[D32] the setting for http: addresses has the host's name for it", () => {
    const rules = { ...RULES, jwksSettingNames: { allowHttp: 'ALLOW_HTTP', allowPrivate: 'ALLOW_PRIVATE' } };
    const { problems } = readText(JSON.stringify([{ ...jwks, url: 'http://a.example/' }]), rules);
    expect(problems).toEqual([expect.stringContaining('; ALLOW_HTTP allows http:')]);
  });

  it.each([
    ['https://10.0.0.1/jwks', false, [], 'jwks.allowPrivate'],
    ['https://10.0.0.1/jwks', false, ['192.168.0.0/16'], 'jwks.allowPrivate'],
    ['https://127.0.0.1:8443/jwks', false, [], 'jwks.allowHttp or jwks.allowPrivate'],
    ['https://10.0.0.1/jwks', false, ['10.0.0.0/8'], undefined],
    ['http://localhost/jwks', true, [], undefined],
    ['https://partner.example/jwks', false, [], undefined],
    ['https://10.0.0.1/jwks', false, undefined, undefined],
  ])('[D32] the refusal of the address of %s names the setting that would allow it', (...given) => {
    const [url, allowHttp, allowPrivate, setting] = given;
    const rules = { ...RULES, allowHttp, ...(allowPrivate === undefined ? {} : { allowPrivate }) };
    const entry = { ...jwks, url, expectedAudience: 'us', linkPrivileged: false };
    const { problems, warnings } = readText(JSON.stringify([entry]), rules);
    expect(problems).toEqual([]);
    expect(warnings).toEqual(
      setting === undefined
        ? []
        : [`entry 0, url: its address is not public, so the service never fetches its keys; see ${setting}`],
    );
  });

  it('[D32] invalid JSON is reported with its position', () => {
    expect(readText('\ufeff[]').problems).toEqual([]);
    expect(readText(`[\n  {"kid": "a",}\n]`).problems).toEqual(['not valid JSON (line 2, column 15)']);
    expect(readText(`[{"kid":"${MARKER}","kid":1}]`).problems).toEqual(['a property is given twice']);
  });

  it("[P.name] an entry's name is its label in logs and metrics", () => {
    expect(read({ ...ec, name: 'Partner A' }, jwks).entries.map(({ label }) => label)).toEqual([
      'Partner A',
      'entry-1',
    ]);
  });
});

describe('the whole list', () => {
  it.each([
    ['no JSON', `[{"kid":${MARKER}}]`],
    ['an object', JSON.stringify({ ...ec, name: MARKER })],
    ['empty', ''],
    [
      'with a member given twice',
      `[{"type":"jwks","issuer":"https://${MARKER}.example","\\u0069ssuer":"https://b.example"}]`,
    ],
    ['an entry that is a text', `["${MARKER}"]`],
  ])('[2.1] is rejected: %s', (_, text) => {
    const { entries, problems } = readText(text);
    expect(entries).toEqual([]);
    expect(problems).toHaveLength(1);
    expect(problems[0]).not.toContain(MARKER);
  });

  it('[P.origins] has no more origins than fit a header of each answer, each counted once', () => {
    // Each has 39 characters, and a space follows all but the last: 200 of them have 7,999.
    const origins = (first: number, count: number) =>
      Array.from({ length: count }, (_, index) => `https://ww-${first + index}.customer.product.example`);
    const named = (kid: string, list: string[]) => ({ ...ec, kid, origins: list });
    expect(origins(100, 200).join(' ')).toHaveLength(7_999);
    const full = [
      named('k1', origins(100, 150)),
      named('k2', origins(130, 170)),
      named('k3', origins(100, 9)),
    ];
    expect(read(...full).problems).toEqual([]);
    expect(read(...full, jwks, named('k4', ['https://a.b'])).problems).toEqual([
      expect.stringMatching(
        /^entry 4, origins: must have at most 8000 characters with those of the entries before/,
      ),
    ]);
  });

  it('[P.maxUsers] has one user limit per issuer, in any of its entries', () => {
    const own = (kid: string, maxUsers?: number) => ({ ...ec, kid, maxUsers });
    expect(
      read(own('k1', 50), own('k2'), own('k3', 50), { ...own('k4', 7), issuer: `${issuer}/2` }).problems,
    ).toEqual([]);
    const keySets = (...numbers: (number | undefined)[]) =>
      numbers.map((maxUsers, at) => ({ ...jwks, url: `${jwks.url}/${at}`, maxUsers }));
    for (const entries of [
      [own('k1'), own('k2', 50), own('k3', 51)],
      keySets(undefined, 50, 51),
      [own('k1'), ...keySets(50), own('k3', 51)],
    ])
      expect(read(...entries).problems).toEqual([
        'entry 2, maxUsers: must be as in entry 1, which has the same issuer, or left out in one of them',
      ]);
    for (const entries of [keySets(50, undefined), keySets(undefined, 50), [own('k1'), ...keySets(50)]]) {
      const { entries: taken, problems } = read(...entries);
      expect([problems, maxUsersOf(issuer, taken), maxUsersOf(`${issuer}/2`, taken)]).toEqual([
        [],
        50,
        undefined,
      ]);
    }
  });

  it('[D32] rejects the same issuer and kid twice among static entries', () => {
    const same = { ...ed.staticEntry(), kid: 'k1' };
    expect(read(ec, jwks, same).problems).toEqual(['entry 2: has the same issuer and kid as entry 0']);
    expect(read(ec, { ...same, kid: 'k2' }, { ...same, issuer: `${issuer}/2` }).problems).toEqual([]);
  });

  it.each([jwks.url, `${jwks.url}?`, `${jwks.url}#a`, 'https://LOGIN.partner.example:443/a/../jwks'])(
    '[D32] rejects the same JWKS URL twice: %s',
    (url) => {
      expect(read(jwks, { ...jwks, url, issuer: 'https://b.example' }).problems).toEqual([
        'entry 1: has the same url as entry 0',
      ]);
    },
  );

  it('[D32] rejects the same issuer and JWKS URL with another query', () => {
    const other = { ...jwks, url: `${jwks.url}?app=2` };
    expect(read(jwks, other).problems).toEqual([
      'entry 1: has the same issuer and url (apart from the query) as entry 0',
    ]);
    expect(read(other, { ...jwks, url: `${jwks.url}?app=3` }).problems).toHaveLength(1);
    expect(read(jwks, { ...other, issuer: 'https://b.example' }).problems).toEqual([]);
  });

  it('[D32] reports every problem of every entry at once', () => {
    const first = {
      type: 'static',
      kid: '',
      algorithms: ['HS256'],
      key: MARKER,
      issuer: MARKER,
      notAfter: 1,
      x: 1,
    };
    const second = {
      type: 'jwks',
      url: MARKER,
      issuer: 5150,
      cacheTtlSeconds: 1,
      allowedRoles: 1,
      kid: MARKER,
    };
    const { problems } = read(first, second);
    expect(problems.map((problem) => problem.split(':')[0]).sort()).toEqual(
      [
        ...['algorithms', 'issuer', 'key', 'kid', 'notAfter'].map((member) => `entry 0, ${member}`),
        'entry 0, "x"',
        ...['"kid"', 'allowedRoles', 'cacheTtlSeconds', 'issuer', 'url'].map(
          (member) => `entry 1, ${member}`,
        ),
      ].sort(),
    );
  });

  it.each([
    ['issuer and kid', ec, { notAfter: 1 }],
    ['url', jwks, { cacheTtlSeconds: 1 }],
  ])('[D32] reports a shared %s together with another problem of the entry', (what, entry, wrong) => {
    const { problems } = read(entry, { ...entry, ...wrong });
    expect(problems).toContainEqual(expect.stringContaining(Object.keys(wrong).join()));
    expect(problems).toContain(`entry 1: has the same ${what} as entry 0`);
  });

  it('[D32] checks common properties even if the type is wrong', () => {
    const { problems } = read({ ...ec, type: MARKER, issuer: MARKER, allowedRoles: MARKER });
    expect(problems.map((problem) => problem.split(':')[0]).sort()).toEqual([
      'entry 0, allowedRoles',
      'entry 0, issuer',
      'entry 0, type',
    ]);
  });
});

describe('[D32] an unsupported algorithm', () => {
  it.each([
    ['es256', 'ES256'],
    ['Ed25519', 'EdDSA'],
    ['RSA256', 'RS256'],
  ])('%s: the message suggests %s', (algorithm, meant) => {
    const { problems } = read({ ...ec, algorithms: [algorithm] });
    expect(problems.join('\n')).toContain(`not supported (did you mean ${meant}?); supported are RS256, `);
  });
});

describe('warnings', () => {
  it.each([[['global:owner']], [['global:member', MARKER]], [['GLOBAL:ADMIN']]])(
    '[D32] report a role that is never assigned, without its name: %j',
    (allowedRoles) => {
      const { entries, problems, warnings } = read({ ...ec, allowedRoles });
      expect(problems).toEqual([]);
      expect(entries).toHaveLength(1);
      const ofRoles = warnings.filter((warning) => warning.startsWith('entry 0, allowedRoles: '));
      expect(ofRoles).toHaveLength(1);
      expect(ofRoles[0]).not.toMatch(/owner|marker|GLOBAL/);
    },
  );
});
