// Which proofs are taken: each row of the table changes one thing of a good one, and names the check that fails.
import { createHmac, generateKeyPairSync } from 'node:crypto';
import { Partner } from '../../../../demo/partner.js';
import { SIGNING_ALGORITHMS } from '../../../../demo/signing-key.js';
import type { ProofTerms, SentProof } from '../../../../src/token-exchange/dpop/proof-checks.js';
import {
  explainProof,
  publicAddress,
  verifyProof,
} from '../../../../src/token-exchange/dpop/proof-checks.js';
import { isTokenRefusal } from '../../../../src/token-exchange/refusals/oauth-refusal.js';
import { DpopClient, sha256, TOKEN_URL } from '../../../support/dpop-client.js';
import { jwkOf, SMALL_ORDER_KEYS } from '../../../support/weak-ed25519-keys.js';

const NOW = 1_800_000_000;
const TOKEN = 'an.access.token';
const client = new DpopClient();
const thief = new DpopClient();
const rsa = new DpopClient('RS256');

const requestOf = (text: string, change: Partial<SentProof> = {}): SentProof => ({
  ...{ text, method: 'POST', address: TOKEN_URL },
  ...change,
});
const ed25519 = new DpopClient('EdDSA');
const claims = (change: object) => client.proof({ claims: { iat: NOW, ...change } });
const header = (change: object, of = client) => of.proof({ claims: { iat: NOW }, header: { ...change } });
const good = () => claims({});

/** `accepted`, or the check that fails. */
async function outcomeOf(sent: SentProof, terms: Partial<ProofTerms> = {}): Promise<string> {
  try {
    await verifyProof(sent, { now: NOW, ...terms });
    return 'accepted';
  } catch (error) {
    if (!isTokenRefusal(error)) throw error;
    expect(error.reason).toBe('dpop_proof_invalid');
    return error.context.detail ?? '';
  }
}

const ofText = (text: string) => outcomeOf(requestOf(text));
const base64url = (content: object | string) =>
  Buffer.from(typeof content === 'string' ? content : JSON.stringify(content)).toString('base64url');

function privateJwk(): object {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  return privateKey.export({ format: 'jwk' });
}

/** HMAC over the key that the header brings. */
function symmetric(): string {
  const secret = Buffer.alloc(32, 1);
  const jwk = { kty: 'oct', k: secret.toString('base64url') };
  const payload = { htm: 'POST', htu: TOKEN_URL, iat: NOW, jti: 'j' };
  const input = `${base64url({ typ: 'dpop+jwt', alg: 'HS256', jwk })}.${base64url(payload)}`;
  return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
}

function rsaJwk(modulusLength: number, publicExponent = 65_537): object {
  return generateKeyPairSync('rsa', { modulusLength, publicExponent }).publicKey.export({ format: 'jwk' });
}

describe('[D141] a valid proof', () => {
  it.each(SIGNING_ALGORITHMS)('[D141] is accepted with %s, and identifies its key', async (algorithm) => {
    const other = new DpopClient(algorithm);
    const text = other.proof({ claims: { iat: NOW, jti: 'j', nonce: 'n' } });
    expect(await verifyProof(requestOf(text), { now: NOW })).toEqual({
      thumbprint: other.thumbprint,
      nonce: 'n',
      use: { jti: `dpop:${JSON.stringify([other.thumbprint, 'j'])}`, exp: NOW + 60 },
    });
  });

  it.each<[string, string]>([
    ['a typ in capitals', header({ typ: 'DPoP+JWT' })],
    ['a whole media type', header({ typ: 'application/dpop+jwt' })],
    ['Ed25519 as alg (RFC 9864)', header({ alg: 'Ed25519' }, new DpopClient('EdDSA'))],
    ['a key with kid, alg and use', header({ jwk: { ...client.jwk, kid: 'k', alg: 'ES256', use: 'sig' } })],
    ['the usual port', claims({ htu: TOKEN_URL.replace('.example', '.example:443') })],
    ['a query and a fragment', claims({ htu: `${TOKEN_URL}?a=b#c` })],
    ['dots in the path', claims({ htu: TOKEN_URL.replace('/oauth', '/./x/../oauth') })],
    ['60 s of age', claims({ iat: NOW - 60 })],
    ['a clock that is 60 s ahead', claims({ iat: NOW + 60 })],
    ['half a second', claims({ iat: NOW - 0.5 })],
    ['other claims', claims({ ath: 'x', nonce: 7, sub: 'x' })],
    ['an nbf that is 60 s ahead', claims({ nbf: NOW + 60 })],
    ['Ed25519 as alg of its key', header({ jwk: { ...ed25519.jwk, alg: 'Ed25519' } }, ed25519)],
    ['a key whose alg says nothing', header({ jwk: { ...client.jwk, alg: null } })],
  ])('[D141] has %s', async (_, text) => expect(await ofText(text)).toBe('accepted'));
});

describe('[D141] an attack', () => {
  it.each<[string, string, () => string]>([
    ['two headers', 'DPoP', () => `${good()}, ${good()}`],
    ['no JWT', 'not three parts', () => 'x'],
    ['another spelling of the signature', 'the signature is not base64url', () => `${good()}=`],
    [
      'a member twice',
      'payload: a property is given twice',
      () =>
        client.signed(
          JSON.stringify({ typ: 'dpop+jwt', alg: 'ES256', jwk: client.jwk }),
          `{"htm":"GET","htm":"POST","htu":"${TOKEN_URL}","iat":${NOW},"jti":"j"}`,
        ),
    ],
    ['over 8 KiB', 'over 8192 characters', () => claims({ x: 'x'.repeat(8_192) })],
    ['no typ', 'typ', () => header({ typ: undefined })],
    ['the typ of an access token', 'typ', () => header({ typ: 'at+jwt' })],
    ['a typ with a parameter', 'typ', () => header({ typ: 'dpop+jwt;x=y' })],
    [
      'an access token in place of a proof',
      'typ',
      () => Partner.create({ issuer: 'https://a.example' }).sign(),
    ],
    ['crit', 'crit, b64', () => header({ crit: ['exp'] })],
    ['b64', 'crit, b64', () => header({ b64: false })],
    ['alg none', 'alg', () => header({ alg: 'none' })],
    ['a symmetric key', 'alg', symmetric],
    ['no key', 'jwk is not an object', () => header({ jwk: undefined })],
    ['a private key', 'jwk has private members', () => header({ jwk: privateJwk() })],
    ['a key of another type than alg', 'jwk', () => header({ alg: 'RS256' })],
    ['a long RSA key', 'jwk', () => header({ jwk: rsaJwk(5_120) }, rsa)],
    ['an RSA key with the exponent 1', 'jwk', () => header({ jwk: { ...rsa.jwk, e: 'AQ' } }, rsa)],
    ['an RSA key without a modulus', 'jwk', () => header({ jwk: { ...rsa.jwk, n: '' } }, rsa)],
    ['an RSA key with a long exponent', 'jwk', () => header({ jwk: { ...rsa.jwk, e: 'AQAAAAB_' } }, rsa)],
    [
      'a key by which anybody signs',
      'jwk',
      () => header({ alg: 'EdDSA', jwk: jwkOf(SMALL_ORDER_KEYS[0] ?? '') }, new DpopClient('EdDSA')),
    ],
    ['the key of another', 'its signature', () => client.proof({ claims: { iat: NOW }, signedBy: thief })],
    [
      'changed claims',
      'its signature',
      () => {
        const [head = '', , signature = ''] = good().split('.');
        return `${head}.${base64url({ htm: 'POST', htu: TOKEN_URL, iat: NOW, jti: 'other' })}.${signature}`;
      },
    ],
    ['another method', 'htm', () => claims({ htm: 'GET' })],
    ['a method in small letters', 'htm', () => claims({ htm: 'post' })],
    ['no method', 'htm', () => claims({ htm: undefined })],
    ['another host', 'htu', () => claims({ htu: 'https://evil.example/rest/auth/oauth/token' })],
    [
      'the host as a user name',
      'htu',
      () => claims({ htu: TOKEN_URL.replace('/rest', '@evil.example/rest') }),
    ],
    ['a user name', 'htu', () => claims({ htu: TOKEN_URL.replace('//', '//user@') })],
    ['plain HTTP', 'htu', () => claims({ htu: TOKEN_URL.replace('https', 'http') })],
    ['a path in capitals', 'htu', () => claims({ htu: TOKEN_URL.replace('token', 'TOKEN') })],
    ['an encoded slash', 'htu', () => claims({ htu: TOKEN_URL.replace('/oauth', '%2Foauth') })],
    ['a slash at the end', 'htu', () => claims({ htu: `${TOKEN_URL}/` })],
    ['an address with a backslash', 'htu', () => claims({ htu: TOKEN_URL.replace('/oauth/', '\\oauth\\') })],
    ['no address', 'htu', () => claims({ htu: undefined })],
    ['a list of addresses', 'htu', () => claims({ htu: [TOKEN_URL] })],
    ['more than 60 s of age', 'iat', () => claims({ iat: NOW - 60.5 })],
    ['more than 60 s ahead', 'iat', () => claims({ iat: NOW + 61 })],
    ['milliseconds', 'iat', () => claims({ iat: NOW * 1_000 })],
    ['a time as text', 'iat', () => claims({ iat: String(NOW) })],
    ['no time', 'iat', () => claims({ iat: undefined })],
    ['an exp in the past', 'exp', () => claims({ exp: NOW - 1 })],
    ['an exp that is now', 'exp', () => claims({ exp: NOW })],
    ...(
      [
        ['a word', 'soon'],
        ['null', null],
        ['a text', String(NOW + 9)],
      ] as const
    ).flatMap(([what, value]): [string, string, () => string][] => [
      [`${what} as exp`, 'exp', () => claims({ exp: value })],
      [`${what} as nbf`, 'nbf', () => claims({ nbf: value })],
    ]),
    ['an nbf that is over 60 s ahead', 'nbf', () => claims({ nbf: NOW + 60.5 })],
    ...['ES384', 'EdDSA', 'HS256', 'none', 7].map((alg): [string, string, () => string] => [
      `a key for ${alg}`,
      'jwk has another alg than the proof',
      () => header({ jwk: { ...client.jwk, alg } }),
    ]),
    [
      'no end of time',
      'iat',
      () =>
        client.signed(
          JSON.stringify({ typ: 'dpop+jwt', alg: 'ES256', jwk: client.jwk }),
          `{"htm":"POST","htu":"${TOKEN_URL}","iat":1e999,"jti":"j"}`,
        ),
    ],
    ['no jti', 'jti', () => claims({ jti: undefined })],
    ['a number as jti', 'jti', () => claims({ jti: 7 })],
  ])('[D141] with %s fails: %s', async (_, check, make) => expect(await ofText(make())).toBe(check));

  it('[D141] on a request without an address of its own is rejected, whatever the proof says', async () => {
    for (const htu of [undefined, TOKEN_URL, 'x'])
      expect(await outcomeOf(requestOf(claims({ htu }), { address: undefined }))).toBe('htu');
  });

  it.each<[string, string, object]>([
    ['of the token', 'accepted', { ath: sha256(TOKEN) }],
    ['of another token', 'ath', { ath: sha256('another') }],
    ['of nothing', 'ath', {}],
    ['the token itself', 'ath', { ath: TOKEN }],
  ])('[D141] at the API a proof has the hash %s: %s', async (_, outcome, change) =>
    expect(await outcomeOf(requestOf(claims(change)), { accessToken: TOKEN })).toBe(outcome),
  );
});

it('[D141] a known header returns its own key, but every signature is still verified', async () => {
  for (let times = 0; times < 2; times += 1) {
    const { thumbprint } = await verifyProof(requestOf(good()), { now: NOW });
    expect(thumbprint).toBe(client.thumbprint);
    expect(await ofText(client.proof({ claims: { iat: NOW }, signedBy: thief }))).toBe('its signature');
  }
});

it('[D141] an explanation continues after a check that later checks do not depend on', async () => {
  const sent = requestOf(claims({ htm: 'GET', iat: NOW - 90, htu: `${TOKEN_URL}?secret=1` }));
  const results = await explainProof(sent, { now: NOW });
  const failed = results.filter(({ state }) => state === 'failed');
  expect(failed).toEqual([
    { check: 'proof', about: 'htm', state: 'failed', expected: 'POST', found: 'GET' },
    {
      check: 'proof',
      about: 'iat',
      state: 'failed',
      expected: '60 s ago or ahead at most',
      found: '90 s ago',
    },
  ]);
  const [, form] = await explainProof(requestOf('x'), { now: NOW });
  expect(form).toMatchObject({ state: 'failed', found: 'not three parts' });
  const unknown = await explainProof(requestOf(header({ alg: 'none' })), { now: NOW });
  const place = unknown.findIndex(({ about }) => about === 'alg');
  expect(unknown[place]).toMatchObject({ state: 'failed' });
  expect(new Set(unknown.slice(place + 1).map(({ state }) => state))).toEqual(new Set(['not-reached']));
});

const EXPECTED_KEY = 'a public key for ES256, of RSA from 2048 to 4096 bits';

it('[D141] an explanation shows what each check has compared', async () => {
  const results = await explainProof(requestOf(claims({ ath: sha256(TOKEN) })), {
    now: NOW,
    accessToken: TOKEN,
  });
  expect(results.map(({ state }) => state)).toEqual(results.map(() => 'passed'));
  expect(results.map(({ about, expected, found }) => [about, expected, found])).toEqual([
    ['DPoP', 'one header', 'one'],
    ['its form', 'a JWT in compact form', 'a JWT in compact form'],
    ['typ', 'dpop+jwt', 'dpop+jwt'],
    ['crit, b64', 'neither', 'nothing'],
    ['alg', SIGNING_ALGORITHMS.join(', '), 'ES256'],
    ['jwk', EXPECTED_KEY, 'a key of type ec'],
    ['its signature', 'by the key of jwk', 'by that key'],
    ['htm', 'POST', 'POST'],
    ['htu', TOKEN_URL, TOKEN_URL],
    ['iat', '60 s ago or ahead at most', '0 s ago'],
    ['exp', 'none, or a time ahead', 'nothing'],
    ['nbf', 'none, or 60 s ahead at most', 'nothing'],
    ['jti', 'a text', 'a string'],
    ['ath', 'the hash of the access token', 'a hash'],
  ]);
});

it.each<[string, string, string, () => string]>([
  ['DPoP', 'one header', 'several', () => `${good()}, ${good()}`],
  ['crit, b64', 'neither', 'a boolean', () => header({ b64: false })],
  ['jwk', EXPECTED_KEY, 'a key of type ed25519', () => header({ jwk: new DpopClient('EdDSA').jwk })],
  [
    'its signature',
    'by the key of jwk',
    'by another key, or of another text',
    () => client.proof({ claims: { iat: NOW }, signedBy: thief }),
  ],
  ['iat', '60 s ago or ahead at most', '61 s ahead', () => claims({ iat: NOW + 61 })],
  ['exp', 'none, or a time ahead', '1 s ago', () => claims({ exp: NOW - 1 })],
  ['nbf', 'none, or 60 s ahead at most', '61 s ahead', () => claims({ nbf: NOW + 61 })],
  ['jti', 'a text', 'a number', () => claims({ jti: 7 })],
  ['ath', 'the hash of the access token', 'nothing', () => good()],
])(
  '[D141] an explanation for %s shows %s as expected and %s as found',
  async (about, expected, found, make) => {
    const terms = { now: NOW, ...(about === 'ath' && { accessToken: TOKEN }) };
    const results = await explainProof(requestOf(make()), terms);
    expect(results.find(({ state }) => state === 'failed')).toEqual({
      ...{ check: 'proof', about, state: 'failed', expected, found },
    });
  },
);

describe("[D141] a request's public address", () => {
  const HOST = 'https://host.example';
  it.each<[string, string, string, string | undefined]>([
    ['is that of the host', HOST, '/a/b', `${HOST}/a/b`],
    ['has no query', HOST, '/a?b=/c#d', `${HOST}/a`],
    ['has the path that a proxy took away', `${HOST}/app`, '/a', `${HOST}/app/a`],
    ['has a path that only begins like it', `${HOST}/app`, '/application', `${HOST}/app/application`],
    ['is not what the request line has as a whole', HOST, 'https://evil.example/a', undefined],
    ['stays at the host', HOST, '//evil.example/a', `${HOST}//evil.example/a`],
    ['is none for what begins otherwise', HOST, '@evil.example/a', undefined],
    ['is none with a backslash', HOST, '/\\evil.example', undefined],
  ])('[D141] %s', (_, baseUrl, target, address) => expect(publicAddress(baseUrl, target)).toBe(address));
});
