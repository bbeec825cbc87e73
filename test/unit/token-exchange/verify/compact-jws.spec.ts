// Which texts are taken apart as a compact JWS, and that each token has one spelling only.
import { Partner } from '../../../../demo/partner.js';
import type { OAuthRefusal } from '../../../../src/token-exchange/refusals/oauth-refusal.js';
import { isTokenRefusal } from '../../../../src/token-exchange/refusals/oauth-refusal.js';
import { parseCompactJws } from '../../../../src/token-exchange/verify/compact-jws.js';

const partner = Partner.create({ issuer: 'https://a.example', kid: 'k1', algorithm: 'EdDSA' });
const token = partner.sign();
const [header = '', payload = '', signature = ''] = token.split('.');

const base64url = (content: string | Buffer) => Buffer.from(content).toString('base64url');
const withPayload = (content: string | Buffer) => `${header}.${base64url(content)}.${signature}`;

function refusal(text: string): OAuthRefusal {
  try {
    parseCompactJws(text);
  } catch (error) {
    if (isTokenRefusal(error)) return error;
    throw error;
  }
  throw new Error('it was parsed');
}

it('[D14] a token is split into its parts', () => {
  const jws = parseCompactJws(token);
  expect(jws.header).toEqual({ alg: 'EdDSA', typ: 'JWT', kid: 'k1' });
  expect(jws.payload).toMatchObject({ iss: 'https://a.example', sub: 'customer-1' });
  expect(jws.signingInput.toString()).toBe(`${header}.${payload}`);
  expect(jws.signature.toString('base64url')).toBe(signature);
});

describe('an invalid JWT', () => {
  it.each([
    ...['', '.', '..', '...', 'a', 'a.b', 'a.b.c', 'Bearer x.y.z', 'null', '{}', '\0.\0.\0'],
    ...[`${header}.${payload}`, `${token}.`, `.${token}`, `${token}.${signature}`, `..${signature}`],
    ...[`.${payload}.${signature}`, `${header}..${signature}`, `${header}.${payload}.${signature}.e30.e30`],
    JSON.stringify({ payload, protected: header, signature }),
    JSON.stringify({ payload, signatures: [{ protected: header, signature }] }),
  ])('[D14] is malformed: %.60j', (text) => expect(refusal(text).reason).toBe('token_malformed'));

  it.each(['null', '[]', '"text"', '7', 'true', '', '{', '{"kid":"k1",}', '\ufeff{}'])(
    '[D14] a header of %j is malformed',
    (text) =>
      expect(refusal(`${base64url(text)}.${payload}.${signature}`).message).toMatch(
        /^token_malformed: .*header/,
      ),
  );

  // RFC 7519 §7.2: the claims set is a JSON object.
  it.each(['', '{', 'text', '{"sub":1,}', '\ufeff{}', "{'sub':1}", 'null', '[]', '"text"', '7', '[{}]'])(
    '[D14] a payload of %j is malformed',
    (text) => {
      expect(refusal(withPayload(text)).message).toMatch(/^token_malformed: .*payload/);
    },
  );

  it.each([
    ['UTF-16', Buffer.from('{}', 'utf16le')],
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ['a surrogate in UTF-8', Buffer.from([0x7b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x3a, 0x31, 0x7d])],
  ])('[D14] %s is malformed', (_, bytes) =>
    expect(refusal(withPayload(bytes)).reason).toBe('token_malformed'),
  );

  it('[D42] a token of 65,536 characters is not too long', () => {
    const filled = 'A'.repeat(65_480);
    expect(parseCompactJws(`${header}.e30.${filled}`).payload).toEqual({});
    expect(refusal(`${header}.eyB9.${filled}`).message).toBe('token_malformed: over 65536 characters');
  });
});

describe('duplicate properties', () => {
  const names = ['alg', 'kid', 'typ', 'crit', 'iss', 'sub', 'aud', 'exp', 'jti', 'role', 'email', 'other'];

  it.each(names)(
    '[D37][K15] %s twice is malformed in header and claims, at any depth, in any spelling',
    (name) => {
      const escaped = `\\u${name.charCodeAt(0).toString(16).padStart(4, '0')}${name.slice(1)}`;
      for (const other of [name, escaped]) {
        const twice = `{"${name}":"a","${other}":"a"}`;
        for (const text of [twice, `{"deep":${twice}}`, `{"deep":[{"deep":[${twice}]}]}`]) {
          expect(refusal(withPayload(text)).reason).toBe('token_malformed');
          expect(refusal(`${base64url(text)}.${payload}.${signature}`).reason).toBe('token_malformed');
        }
      }
    },
  );
});

describe('each token has one spelling', () => {
  const others = [
    ...[` ${token}`, `${token} `, `${token}\n`, `${token}=`],
    ...[`${header}=.${payload}.${signature}`, `${header}.${payload}=.${signature}`],
    ...[`${header}.${payload}\0.${signature}`],
    ...[
      `${header}.${payload}.${signature.slice(0, 5)}\r\n${signature.slice(5)}`,
      `${header}.${payload}.${signature}é`,
    ],
  ];

  it.each(others)('[D14] another spelling is malformed: %j', (text) =>
    expect(refusal(text).reason).toBe('token_malformed'),
  );

  it('[D14] base64 with + and / is malformed', () => {
    const bytes = Buffer.alloc(64, 0xfb);
    expect(bytes.toString('base64')).toMatch(/[+/]/);
    expect(refusal(`${header}.${payload}.${bytes.toString('base64').replaceAll('=', '')}`).reason).toBe(
      'token_malformed',
    );
    expect(parseCompactJws(`${header}.${payload}.${bytes.toString('base64url')}`).signature).toEqual(bytes);
  });

  it('[D14] unused bits must be zero', () => {
    expect(signature).toHaveLength(86);
    const last = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const spellings = [...last].map((char) => `${header}.${payload}.${signature.slice(0, -1)}${char}`);
    const same = (text: string) =>
      Buffer.from(text.split('.')[2] ?? '', 'base64url').equals(parseCompactJws(token).signature);
    const aliases = spellings.filter((text) => text !== token && same(text));
    expect(aliases).toHaveLength(15);
    for (const text of aliases) expect([text, refusal(text).reason]).toEqual([text, 'token_malformed']);
  });
});

it('[D23] an error contains nothing of the token', () => {
  const texts = [
    `marker.${payload}.x`,
    `${base64url('{"marker"')}.e30.`,
    withPayload('{"marker":1,"marker":2}'),
    'marker',
  ];
  for (const text of texts)
    expect(JSON.stringify([refusal(text).message, refusal(text).context])).not.toContain('marker');
});
