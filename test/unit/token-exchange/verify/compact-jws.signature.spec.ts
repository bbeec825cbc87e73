// Checks the JWS vectors of Project Wycheproof and of the cookbook of RFC 7520 as the service checks tokens.
import type { JsonWebKey } from 'node:crypto';
import { constants, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import { isTokenRefusal } from '../../../../src/token-exchange/refusals/oauth-refusal.js';
import type { Algorithm } from '../../../../src/token-exchange/trust/algorithms.js';
import { algorithmsFitting, isAlgorithm } from '../../../../src/token-exchange/trust/algorithms.js';
import { readJwks } from '../../../../src/token-exchange/trust/jwks-content.js';
import type { TrustedKey } from '../../../../src/token-exchange/trust/trusted-key.js';
import { isSignatureValid, parseCompactJws } from '../../../../src/token-exchange/verify/compact-jws.js';
import { describeWithVectors } from '../../../support/vectors.js';

interface Vector {
  tcId: number;
  comment: string;
  jws: string;
  result: 'valid' | 'invalid';
}

interface Group {
  comment: string;
  public?: JsonWebKey;
  tests: Vector[];
}

const policy = { entryIndex: 0, label: 'entry-0', issuer: 'https://a.example' };

/** The published key as the service reads it; undefined if it ignores the key. */
function publishedKey(jwk: JsonWebKey): TrustedKey | undefined {
  const [key] = readJwks(Buffer.from(JSON.stringify({ keys: [jwk] }))).keys;
  return key && { ...key, policy };
}

/** The bare key with every algorithm that it can verify, even those that the JWK excludes. */
function bareKey({ kty, n, e, crv, x, y }: JsonWebKey): TrustedKey {
  const publicKey = createPublicKey({ key: { kty, n, e, crv, x, y }, format: 'jwk' });
  return { kid: 'bare', publicKey, algorithms: new Set(algorithmsFitting(publicKey)), policy };
}

/**
 * Whether the service accepts the signature of a token. The vectors' payloads are not claims, so the parts are read with
 * an empty object as payload. The vector's own payload is verified.
 */
async function takes(jws: string, key: TrustedKey | undefined): Promise<boolean> {
  const [header = '', payload = ''] = jws.split('.');
  const isCanonical = Buffer.from(payload, 'base64url').toString('base64url') === payload;
  if (key === undefined || !isCanonical) return false;
  try {
    const parts = parseCompactJws(jws.replace(`.${payload}.`, '.e30.'));
    const alg = parts.header['alg'];
    const isServed = isAlgorithm(alg) && key.algorithms.has(alg);
    return (
      isServed && (await isSignatureValid(alg, key, Buffer.from(`${header}.${payload}`), parts.signature))
    );
  } catch (error) {
    if (isTokenRefusal(error)) return false;
    throw error;
  }
}

describeWithVectors('JWS vectors of Project Wycheproof', 'wycheproof', (vectors) => {
  const { testGroups } = vectors.json<{ testGroups: Group[] }>('wycheproof/json_web_signature_test.json');
  const groups = testGroups.flatMap(({ public: jwk, ...group }) =>
    jwk === undefined ? [] : [{ ...group, jwk }],
  );
  const all = groups.flatMap(({ comment: group, jwk, tests }) =>
    tests.map((vector): [string, Vector & { jwk: JsonWebKey }] => [
      `${vector.tcId} ${group} ${vector.comment}`,
      { ...vector, jwk },
    ]),
  );

  /** Valid for Wycheproof, but refused here: a key is used with its JWK's algorithm only. */
  const STRICTER = new Map([
    [346, 'the JWK says PS256, the token PS384'],
    [350, 'the JWK says PS256, the token PS384'],
    [347, 'the JWK says ES521, which is no algorithm'],
    [351, 'the JWK says ES521, which is no algorithm'],
  ]);

  it('[2.1.supported] every asymmetric group is tested', () => {
    expect(all.length).toBe(361);
    expect(all.filter(([, { result }]) => result === 'valid')).toHaveLength(36);
  });

  it.each(all.filter(([, { tcId }]) => !STRICTER.has(tcId)))(
    '[5.2.1][K12] %s',
    async (_, { jws, jwk, result }) => {
      expect((await takes(jws, publishedKey(jwk))) ? 'valid' : 'invalid').toBe(result);
    },
  );

  it.each(all.filter(([, { tcId }]) => STRICTER.has(tcId)))(
    "[2.1.inferred] %s: the signature is valid, but the algorithm is not the key's",
    async (_, { jws, jwk, result }) => {
      expect([result, await takes(jws, bareKey(jwk)), await takes(jws, publishedKey(jwk))]).toEqual([
        'valid',
        true,
        false,
      ]);
    },
  );
});

describe('RSASSA-PSS', () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const padding = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 };
  const key = { kid: 'pss', publicKey, algorithms: new Set(algorithmsFitting(publicKey)), policy };
  const input = Buffer.from('signed');

  /** One signature in 256 begins with a zero; the salt makes each another one. */
  function signatureWithLeadingZero(): Buffer {
    for (;;) {
      const signature = sign('sha256', input, { key: privateKey, ...padding });
      if (signature[0] === 0) return signature;
    }
  }

  it('[5.2.1] a signature without its leading zero is another spelling, and is rejected', async () => {
    const signature = signatureWithLeadingZero();
    const shorter = signature.subarray(1);
    // What node:crypto alone would say of it.
    expect(verify('sha256', input, { key: publicKey, ...padding }, shorter)).toBe(true);
    expect(await isSignatureValid('PS256', key, input, signature)).toBe(true);
    expect(await isSignatureValid('PS256', key, input, shorter)).toBe(false);
  });
});

const MALFORMED = expect.objectContaining({ reason: 'token_malformed' }) as Error;

interface Example {
  input: { key: JsonWebKey; alg: string };
  signing: { protected_b64u: string; sig: string };
  output: { compact?: string; json: object; json_flat?: object };
}

describeWithVectors('examples of RFC 7520', 'rfc7520-cookbook', (vectors) => {
  const example = (name: string) => vectors.json<Example>(`rfc7520-cookbook/${name}.json`);
  const taken: [string, Algorithm][] = [
    ['jws_4_1.rsa_v15_signature', 'RS256'],
    ['jws_4_2.rsa-pss_signature', 'PS384'],
    ['jws_4_3.ecdsa_signature', 'ES512'],
    ['curve25519_jws', 'EdDSA'],
  ];

  it.each(taken)(
    '[2.1.supported] %s: %s is accepted, and rejected with a changed signature',
    async (name, algorithm) => {
      const { input, output } = example(name);
      const jws = output.compact ?? '';
      expect(input.alg).toBe(algorithm);
      expect(await takes(jws, bareKey(input.key))).toBe(true);
      const at = jws.length - 20;
      const changed = jws.slice(0, at) + (jws[at] === 'A' ? 'B' : 'A') + jws.slice(at + 1);
      expect(await takes(changed, bareKey(input.key))).toBe(false);
    },
  );

  it('[D37] RFC 7797 4.2, an unencoded payload, is not a JWT', () => {
    const { protected_b64u, sig } = example('rfc7797_4.2.hmac-sha2_b64_false').signing;
    expect(() => parseCompactJws(`${protected_b64u}.$.02.${sig}`)).toThrow(MALFORMED);
  });
});

/** Orders of the groups (SEC 2 §2.4.2, §2.5.1, §2.6.1; RFC 8032 §5.1), as the numbers of a signature are compared with. */
const ORDERS = {
  ES256: 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n,
  ES384: 0xffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973n,
  ES512:
    0x01fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffa51868783bf2f966b7fcc0148f709a5d03bb5c9b8899c47aebb6fb71e91386409n,
} as const;
const CURVES = { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521' } as const;
const ED25519_ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;

describe('signatures with values out of range', () => {
  const input = Buffer.from('e30.e30');

  it.each(Object.keys(ORDERS) as (keyof typeof ORDERS)[])(
    '[5.2.1][K12] %s: r and s must be above zero and below the order, whatever the other value is',
    async (algorithm) => {
      const pair = generateKeyPairSync('ec', { namedCurve: CURVES[algorithm] });
      const key = { ...bareKey(pair.publicKey.export({ format: 'jwk' })) };
      const hash = `sha${algorithm.slice(2)}`;
      const good = sign(hash, input, { key: pair.privateKey, dsaEncoding: 'ieee-p1363' });
      const size = good.length / 2;
      const bytesOf = (number: bigint) => Buffer.from(number.toString(16).padStart(size * 2, '0'), 'hex');
      const order = ORDERS[algorithm];
      const [r, s] = [good.subarray(0, size), good.subarray(size)];
      expect(await isSignatureValid(algorithm, key, input, good)).toBe(true);
      const edges = [0n, order, order + 1n, 2n ** BigInt(size * 8) - 1n].map(bytesOf);
      const halves = [...edges, bytesOf(1n), bytesOf(order - 1n)];
      const forged = [
        ...halves.flatMap((one) => halves.map((other) => Buffer.concat([one, other]))),
        ...edges.flatMap((edge) => [Buffer.concat([edge, s]), Buffer.concat([r, edge])]),
      ];
      for (const signature of forged)
        expect([signature.toString('hex'), await isSignatureValid(algorithm, key, input, signature)]).toEqual(
          [signature.toString('hex'), false],
        );
    },
  );

  it('[5.2.1][K12] EdDSA: S plus the group order is another spelling of S, and is rejected', async () => {
    const pair = generateKeyPairSync('ed25519');
    const key = bareKey(pair.publicKey.export({ format: 'jwk' }));
    const good = sign(null, input, pair.privateKey);
    const littleEndian = (bytes: Buffer) => BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
    const raised = littleEndian(good.subarray(32)) + ED25519_ORDER;
    const s = Buffer.from(raised.toString(16).padStart(64, '0'), 'hex').reverse();
    expect(await isSignatureValid('EdDSA', key, input, good)).toBe(true);
    expect(await isSignatureValid('EdDSA', key, input, Buffer.concat([good.subarray(0, 32), s]))).toBe(false);
    expect(await isSignatureValid('EdDSA', key, input, Buffer.alloc(64))).toBe(false);
  });
});
