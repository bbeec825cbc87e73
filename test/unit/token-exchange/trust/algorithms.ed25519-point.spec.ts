// Ed25519 keys for which anybody can sign: node:crypto takes them, key sets and the configuration do not.
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { Partner } from '../../../../demo/partner.js';
import { readJwks } from '../../../../src/token-exchange/trust/jwks-content.js';
import { readTrustedKeys } from '../../../../src/token-exchange/trust/trusted-key-entry.js';
import {
  forgeSignature,
  jwkOf,
  NON_CANONICAL_KEYS,
  pemOf,
  SMALL_ORDER_KEYS,
} from '../../../support/weak-ed25519-keys.js';

const good = Partner.create({ issuer: 'https://partner.example', kid: 'good', algorithm: 'EdDSA' });
const RULES = { assignableRoles: [], allowHttp: false };

const readKeys = (...keys: object[]) => readJwks(Buffer.from(JSON.stringify({ keys })));
const problemsOf = (point: string) =>
  readTrustedKeys(JSON.stringify([good.staticEntry({ key: pemOf(point) })]), RULES).problems;

describe('[D35] the small-order points in all spellings', () => {
  // Node.js 24 and later take no such signature by themselves; the rule does not lean on that.
  const isTaken = Number(process.versions.node.split('.')[0]) < 24;
  it.each(SMALL_ORDER_KEYS)(
    `[D35] ${isTaken ? 'any holder of the set' : 'only the holder of the key'} can sign for %s`,
    (point) => {
      // To find none takes a hundred times as long as to find one.
      const messages = Array.from({ length: isTaken ? 50 : 2 }, () => randomBytes(64));
      expect(messages.filter((message) => forgeSignature(point, message) !== undefined)).toHaveLength(
        isTaken ? 50 : 0,
      );
    },
  );
});

describe.each(['EdDSA', 'Ed25519', undefined])('in a key set, with alg %s', (alg) => {
  it.each([...new Set([...SMALL_ORDER_KEYS, ...NON_CANONICAL_KEYS])])(
    '[D35] %s is dropped, and the other key is used',
    (point) => {
      const { keys, warnings } = readKeys({ ...jwkOf(point), kid: 'weak', alg }, ...good.jwks().keys);
      expect(keys.map(({ kid }) => kid)).toEqual(['good']);
      expect(warnings).toEqual([
        'key 0 (kid "weak") is a point of small order, or not written in its only form',
      ]);
    },
  );
});

it.each([...new Set([...SMALL_ORDER_KEYS, ...NON_CANONICAL_KEYS])])(
  '[D32] %s is rejected in the configuration',
  (point) => {
    expect(problemsOf(point)).toEqual(['entry 0, key: is of a kind that no algorithm can use safely']);
  },
);

it('[D35] none of many honest keys is dropped', () => {
  const honest = Array.from({ length: 100 }, (_, index) => ({
    ...generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }),
    kid: `k${index}`,
  }));
  expect(readKeys(...honest).keys).toHaveLength(100);
});

it('[D32] an elliptic-curve key without a point is rejected: node:crypto parses it, but its details crash the process', () => {
  const infinity = Buffer.from(
    '301930130607' + '2a8648ce3d0201' + '06082a8648ce3d030107' + '03020000',
    'hex',
  );
  const key = `-----BEGIN PUBLIC KEY-----\n${infinity.toString('base64')}\n-----END PUBLIC KEY-----\n`;
  const entry = good.staticEntry({ key, algorithms: ['ES256'] });
  expect(readTrustedKeys(JSON.stringify([entry]), RULES).problems).toEqual([
    expect.stringMatching(/^entry 0, key: must be a PEM public key: it is a damaged public key/),
  ]);
});
