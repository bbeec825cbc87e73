// The usable keys of a fetched key set, their algorithms, and the messages for unusable keys.
import type { JsonWebKey } from 'node:crypto';
import { generateKeyPairSync } from 'node:crypto';
import { SIGNING_ALGORITHMS, SigningKey } from '../../../../demo/signing-key.js';
import { visible } from '../../../../src/platform/text/printable.js';
import type { JwksContent } from '../../../../src/token-exchange/trust/jwks-content.js';
import { JwksContentError, readJwks, writeJwks } from '../../../../src/token-exchange/trust/jwks-content.js';

type Jwk = JsonWebKey & Record<string, unknown>;

const good = new SigningKey('good', 'ES256').publicJwk() as Jwk;
const rsa = new SigningKey('rsa', 'RS256').publicJwk() as Jwk;

describe('algorithms', () => {
  it.each(SIGNING_ALGORITHMS)('[2.1.inferred] a key with alg %s is used for that algorithm', (algorithm) => {
    const { keys, warnings } = readKeys(new SigningKey('k', algorithm).publicJwk());
    expect(keys.map(({ kid, algorithms }) => ({ kid, algorithms: [...algorithms] }))).toEqual([
      { kid: 'k', algorithms: [algorithm] },
    ]);
    expect(warnings).toEqual([]);
  });

  it.each([
    ['RS256', ['RS256', 'RS384', 'RS512']],
    ['ES256', ['ES256']],
    ['ES384', ['ES384']],
    ['ES512', ['ES512']],
    ['EdDSA', ['EdDSA']],
  ] as const)('[2.1.inferred][K9] without alg a key of type %s is used for %j', (algorithm, expected) => {
    const { keys } = readKeys({ ...new SigningKey('k', algorithm).publicJwk(), alg: undefined });
    expect([...(keys[0]?.algorithms ?? [])]).toEqual(expected);
  });

  it('[D35] alg Ed25519 is used for EdDSA', () => {
    const { keys } = readKeys({ ...new SigningKey('k', 'EdDSA').publicJwk(), alg: 'Ed25519' });
    expect([...(keys[0]?.algorithms ?? [])]).toEqual(['EdDSA']);
  });
});

const UNSTORABLE_KID = 'has a kid with NUL or a lone surrogate';
/** Has 512 bytes. */
const LONG_KID = 'é'.repeat(256);

describe('dropped keys', () => {
  const privateJwk = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });
  const smallRsa = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ format: 'jwk' });
  const koblitz = generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).publicKey.export({ format: 'jwk' });
  const ed448 = generateKeyPairSync('ed448').publicKey.export({ format: 'jwk' });

  it.each<[string, unknown]>([
    ['is symmetric (kty "oct")', { kty: 'oct', k: 'c2VjcmV0', kid: 'odd' }],
    ['has private members', { ...privateJwk, kid: 'odd' }],
    ...['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv'].map((member): [string, unknown] => [
      'has private members',
      { ...rsa, kid: 'odd', [member]: 'c2VjcmV0' },
    ]),
    ['has a use other than "sig"', { ...good, kid: 'odd', use: 'enc' }],
    ['has key_ops without "verify"', { ...good, kid: 'odd', key_ops: ['sign'] }],
    ['has a kty that is not supported', { ...good, kid: 'odd', kty: 'AKP' }],
    ['has a crv that is not supported', { ...koblitz, kid: 'odd' }],
    ['has a crv that is not supported', { ...ed448, kid: 'odd' }],
    ['is not a valid public key', { ...good, kid: 'odd', crv: 'Ed25519' }],
    ['is not a valid public key', { ...good, kid: 'odd', y: good.x }],
    ['is not a valid public key', { ...rsa, kid: 'odd', n: undefined }],
    ['is too small or has a weak exponent', { ...smallRsa, kid: 'odd' }],
    ['is too small or has a weak exponent', { ...rsa, kid: 'odd', e: 'AQ' }],
    ['has an alg that is not supported', { ...rsa, kid: 'odd', alg: 'HS256' }],
    ['has an alg that is not supported', { ...rsa, kid: 'odd', alg: 'none' }],
    ['does not fit its alg', { ...rsa, kid: 'odd', alg: 'ES256' }],
    ['does not fit its alg', { ...good, kid: 'odd', alg: 'ES384' }],
    ['does not fit its alg', { ...good, kid: 'odd', alg: 'Ed25519' }],
  ])('[D35][K11] include one that %s, with one warning, and the other key is used', (rule, jwk) => {
    const { keys, warnings } = readKeys(jwk, good);
    expect(keys.map(({ kid }) => kid)).toEqual(['good']);
    expect(warnings).toEqual([`key 0 (kid "odd") ${rule}`]);
  });

  it.each<[string, unknown]>([
    ['is not an object', null],
    ['is not an object', [good]],
    ['has no kid', { ...good, kid: undefined }],
  ])('[D35] include one that %s, reported by its position', (rule, jwk) => {
    const { keys, warnings } = readKeys(good, jwk);
    expect(keys.map(({ kid }) => kid)).toEqual(['good']);
    expect(warnings).toEqual([`key 1 ${rule}`]);
  });

  it.each([
    ...['a\0', '\ud800', 'a\udfff', '\udc00\ud800'].map((kid) => [kid, visible(kid), UNSTORABLE_KID]),
    [`${LONG_KID}x`, LONG_KID.slice(0, 64), 'has a kid of over 512 bytes'],
    ['a\u202eb', 'a\\u{202e}b', 'has a kid with characters that cannot be seen, or a backslash'],
  ] as [string, string, string][])(
    '[D35][D77] include one with the kid %.20j, with one warning, and the other keys are used',
    (kid, shown, problem) => {
      const { keys, warnings } = readKeys({ ...good, kid }, good, { ...good, kid: LONG_KID });
      expect(keys.map((key) => key.kid)).toEqual(['good', LONG_KID]);
      expect(warnings).toEqual([`key 0 (kid "${shown}") ${problem}`]);
    },
  );

  it.each(['use', 'key_ops', 'alg', 'd', 'oth', 'x5c'])(
    '[D35][K37] do not include one whose %s is null or empty',
    (member) => {
      for (const nothing of [null, []])
        expect(readKeys({ ...rsa, [member]: nothing }).keys.map(({ kid }) => kid)).toEqual(['rsa']);
    },
  );

  it('[D35] are not caused by use sig, key_ops with verify, or unknown properties', () => {
    const odd = { ...good, use: 'sig', key_ops: ['verify', 'x'], x5c: ['?'], 'x5t#S256': 1, ext: true };
    expect(readKeys(odd).keys).toHaveLength(1);
  });

  it('[D35][K39] do not include the same key twice, which is one key whatever its other properties', () => {
    const { keys, warnings } = readKeys(good, { ...good, alg: undefined, x5t: 'x' }, good);
    expect([keys.map(({ kid }) => kid), warnings]).toEqual([['good'], []]);
  });

  it('[D35][K39] do not include a repeated key with other algorithms, which is used for all of them', () => {
    const { keys } = readKeys({ ...rsa, alg: 'RS256' }, { ...rsa, alg: 'PS256' }, { ...rsa, alg: undefined });
    expect(new Set(keys.flatMap(({ algorithms }) => [...algorithms]))).toEqual(
      new Set(['RS256', 'PS256', 'RS384', 'RS512']),
    );
  });

  it('[D35][K11] include each key after the third of one kid and algorithm; the first three are used in order', () => {
    const twins = [1, 2, 3, 4].map(() => new SigningKey('twin', 'ES256').publicJwk());
    const { keys, warnings } = readKeys(...twins.slice(0, 3), { ...rsa, kid: 'twin' }, twins[3], good);
    const xs = keys.map(({ publicKey }) => publicKey.export({ format: 'jwk' }).x);
    expect(xs).toEqual([...twins.slice(0, 3).map(({ x }) => x), undefined, good.x]);
    expect(warnings).toEqual([
      'key 4 (kid "twin") is never tried: 3 keys before it have its kid and algorithm',
    ]);
  });

  it('[D35] are reported without key material and with only the beginning of a kid', () => {
    const jwk = { ...privateJwk, kid: `x"\n${'y'.repeat(1000)}` };
    const [warning = ''] = readKeys(jwk).warnings;
    expect(warning).toMatch(/^key 0 \(kid "x"\\u\{a\}y{61}"\) has private members$/);
    expect(warning).not.toContain(privateJwk.d);
  });
});

describe('invalid key sets', () => {
  it.each<[string, string | Uint8Array]>([
    ['the answer is no usable JSON: not valid JSON', ''],
    [
      'the answer is no usable JSON: it is not UTF-8, but perhaps Windows-1252',
      Buffer.from('{"keys":["\xff"]}', 'latin1'),
    ],
    [
      'the answer is no usable JSON: it is UTF-16 and must be UTF-8',
      Buffer.from('\ufeff{"keys":[]}', 'utf16le'),
    ],
    ['the answer is no usable JSON: a property is given twice', '{"keys":[],"keys":[]}'],
    ['the answer is no usable JSON: a property is given twice', '{"keys":[{"kid":"a","\\u006bid":"b"}]}'],
    ['the answer is no usable JSON: not valid JSON', '['.repeat(1_000_000)],
    ['the answer is no usable JSON: nested too deeply', '['.repeat(500_000) + ']'.repeat(500_000)],
    ['the answer is not a JSON object with an array "keys"', '[]'],
    ['the answer is not a JSON object with an array "keys"', '{"keys":{}}'],
    ['the answer is not a JSON object with an array "keys"', '{"__proto__":{"keys":[]}}'],
  ])('[D33][K22] include %s: %.30s', (reason, answer) => {
    expect(() => readJwks(Buffer.from(answer))).toThrow(new JwksContentError(reason));
  });

  it('[D33] do not include one with a byte order mark', () => {
    const answer = Buffer.from(`\ufeff${JSON.stringify({ keys: [good] })}`);
    expect(readJwks(answer).keys).toHaveLength(1);
  });

  it('[D33] include 101 keys, but not 100', () => {
    const keys = Array.from({ length: 101 }, (_, index) => ({ ...good, kid: `k${index}` }));
    expect(readKeys(...keys.slice(1)).keys).toHaveLength(100);
    expect(() => readKeys(...keys)).toThrow('the set has more than 100 keys');
  });
});

describe('a stored key set', () => {
  it.each(SIGNING_ALGORITHMS)('[D36] returns the same keys: %s with and without alg', (algorithm) => {
    const jwk = new SigningKey('with "quotes" \u0001', algorithm).publicJwk();
    const read = readKeys(jwk, { ...jwk, kid: 'no alg', alg: undefined });
    const again = readJwks(Buffer.from(writeJwks(read.keys)));
    expect(again.warnings).toEqual([]);
    expect(again.keys.map(comparable)).toEqual(read.keys.map(comparable));
  });

  it('[D36] contains only public properties', () => {
    const stored = writeJwks(readKeys({ ...good, extra: 'member', x5u: 'https://else.where' }).keys);
    expect(JSON.parse(stored)).toEqual({ keys: [withoutUse(good)] });
  });
});

function readKeys(...keys: unknown[]): JwksContent {
  return readJwks(Buffer.from(JSON.stringify({ keys })));
}

function comparable({ kid, algorithms, publicKey }: JwksContent['keys'][number]): unknown {
  return { kid, algorithms: [...algorithms], jwk: publicKey.export({ format: 'jwk' }) };
}

function withoutUse({ use: _use, ...members }: Jwk): Jwk {
  return members;
}
