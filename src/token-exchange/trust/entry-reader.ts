// Reads one trusted key entry: its type, its key or where its keys are fetched, and its policy.
import type { KeyObject } from 'node:crypto';
import { createPublicKey } from 'node:crypto';
import { isIP } from 'node:net';
import { NetworkAddressPolicy, settingThatAllows } from '../../platform/http/network-address.js';
import { pemFault } from '../../platform/text/pem-fault.js';
import { parsedUrl } from '../../platform/text/url.js';
import { similarName } from '../../platform/text/wording.js';
import type { Algorithm } from './algorithms.js';
import {
  algorithmNamed,
  ALGORITHMS,
  algorithmsFitting,
  familyOf,
  isAlgorithm,
  keyFits,
  MINIMUM_RSA_BITS,
} from './algorithms.js';
import type { Findings } from './entry-kinds.js';
import { choice, EntryMembers, Fault, list, number, readRows, text } from './entry-kinds.js';
import type { TrustedKeysRules } from './entry-rules.js';
import { isOwnIssuer, JWKS_SETTING_NAMES, urlFault } from './entry-rules.js';
import { MAX_KID_BYTES } from './jwks-content.js';
import { checkPolicy, defaultsOf } from './policy-checks.js';
import { POLICY } from './policy-rows.js';
import type { JwksEntry, StaticKeyEntry, TrustedKeyEntry, TrustPolicy } from './trusted-key.js';
import { labelOf } from './trusted-key.js';

/** Issuer and subject together are a database key, whose length is limited. */
export const MAX_ISSUER_BYTES = 512;
/** And nothing after it, which would be kept and shown without a check. */
const ONE_PUBLIC_KEY =
  /^\s*-----BEGIN (RSA )?PUBLIC KEY-----[A-Za-z\d+/=\s]+-----END (RSA )?PUBLIC KEY-----\s*$/;
const MIN_CACHE_SECONDS = 60;
const MAX_CACHE_SECONDS = 86_400;

/** The members of every entry that tell it from others. */
const IDENTITY = {
  /** @rule 2.1.type An entry is static or jwks, and has no member that its type does not know. */
  type: choice(['static', 'jwks'], {
    label: 'Type',
    rule: '`static` (one public key) or `jwks` (a key set at a URL)',
    required: 'always',
  }),
  /** @rule 2.1.issuer Every entry names its issuer by URL, which is not the instance's own (D126). */
  issuer: text({
    label: 'Issuer',
    rule: `URL, exactly as in \`iss\`; at most ${MAX_ISSUER_BYTES} bytes`,
    required: 'always',
    fault(issuer, rules) {
      if (parsedUrl(issuer) === undefined) return 'must be a URL';
      if (Buffer.byteLength(issuer) > MAX_ISSUER_BYTES) return `must have at most ${MAX_ISSUER_BYTES} bytes`;
      const isOwn = isOwnIssuer(issuer, rules);
      return isOwn ? 'must not be the address of this instance, which signs no external tokens' : undefined;
    },
  }),
  /** @rule P.name An entry may have a name for logs and metrics. */
  name: text({
    label: 'Name',
    rule: 'in logs and metrics; required for stored entries',
  }),
};

const STATIC = {
  /** @rule 2.1.static.kid A static entry names the kid of its key. */
  kid: text({
    label: 'Key id',
    rule: `\`kid\` of token headers, unique for the issuer; at most ${MAX_KID_BYTES} bytes`,
    required: 'always',
    fault: (kid) =>
      Buffer.byteLength(kid) > MAX_KID_BYTES ? `must have at most ${MAX_KID_BYTES} bytes` : undefined,
  }),
  /** @rule 2.1.static.algorithms All algorithms of an entry are supported and of one family. */
  algorithms: list(
    {
      values: ALGORITHMS,
      each: (name) => (isAlgorithm(name) ? name : new Fault(unsupported(name))),
      must: 'must be a list of at least one algorithm',
      least: 1,
    },
    {
      label: 'Algorithms',
      rule: `of one family that fits the key: ${ALGORITHMS.map((name) => `\`${name}\``).join(' ')} (Ed25519)`,
      required: 'always',
      fault: (algorithms) =>
        new Set([...algorithms].map(familyOf)).size > 1 ? 'must be of one family' : undefined,
    },
  ),
  /** @rule 2.1.static.key The key is a PEM public key that fits every algorithm of the entry. */
  key: text(
    {
      label: 'Public key',
      rule: `PEM public key; RSA of ${MINIMUM_RSA_BITS} bits or more`,
      required: 'always',
    },
    readPublicKey,
  ),
};

const JWKS = {
  /** @rule 2.1.jwks.url A JWKS entry names an https: URL. */
  url: text(
    {
      label: 'Address of the key set',
      rule: '`https:`, without user name or password; each URL once, query ignored',
      required: 'always',
    },
    (url, rules) => {
      const fault = urlFault(url, rules);
      return fault === undefined ? url : new Fault(fault);
    },
  ),
  /** @rule 2.1.jwks.cacheTtlSeconds = 8.13 The fallback cache life is 60 to 86,400 seconds. */
  cacheTtlSeconds: number(MIN_CACHE_SECONDS, MAX_CACHE_SECONDS, {
    label: 'Lifetime in the cache',
    rule: `${MIN_CACHE_SECONDS} to ${MAX_CACHE_SECONDS} seconds, if the answer has no \`Cache-Control: max-age\`; default 3600, fetched at the refresh interval`,
  }),
};

/** The members of entries beside those of their policies, by the types that have them. */
export const KEY_MEMBERS = { both: IDENTITY, static: STATIC, jwks: JWKS };

const MEMBERS = {
  static: new Set(Object.keys({ ...IDENTITY, ...POLICY, ...STATIC })),
  jwks: new Set(Object.keys({ ...IDENTITY, ...POLICY, ...JWKS })),
};

/**
 * Reads one entry; undefined where it has a problem.
 * @param index in the list; undefined where it stands alone, as stored ones do
 */
export function readEntry(
  index: number | undefined,
  value: unknown,
  rules: TrustedKeysRules,
  findings: Findings,
): TrustedKeyEntry | undefined {
  const members = new EntryMembers(index, value, findings);
  if (members.hasProblem) return undefined;
  const { type, issuer = '', name } = readRows(IDENTITY, members, rules);
  const said = readRows(POLICY, members, rules);
  const given = Object.entries(said).filter(([, one]) => one !== undefined);
  const unsaid = defaultsOf(said, rules.defaults);
  const label = index === undefined ? labelOf(name ?? '') : (name ?? `entry-${index}`);
  const policy = { ...unsaid, ...Object.fromEntries(given), entryIndex: index, label, issuer };
  checkPolicy(members, said, policy, rules);
  if (type === undefined) return undefined;
  members.refuseUnknown(MEMBERS[type], MEMBERS[type === 'static' ? 'jwks' : 'static']);
  const entry = type === 'static' ? staticEntry(members, policy, rules) : jwksEntry(members, policy, rules);
  return members.hasProblem ? undefined : entry;
}

function staticEntry(
  members: EntryMembers,
  policy: TrustPolicy,
  rules: TrustedKeysRules,
): StaticKeyEntry | undefined {
  const { kid, algorithms, key: publicKey } = readRows(STATIC, members, rules);
  if (algorithms === undefined || publicKey === undefined) return undefined;
  refuseMisfit(members, publicKey, [...algorithms]);
  if (kid === undefined) return undefined;
  return { ...policy, type: 'static', key: { kid, algorithms, publicKey, policy } };
}

function jwksEntry(
  members: EntryMembers,
  policy: TrustPolicy,
  rules: TrustedKeysRules,
): JwksEntry | undefined {
  const { url, cacheTtlSeconds } = readRows(JWKS, members, rules);
  if (url === undefined) return undefined;
  warnOfAddress(members, new URL(url), rules);
  return { ...policy, type: 'jwks', url, cacheTtlSeconds };
}
/** Names the nearest supported algorithm, but for HMAC, which differs from RSA by one letter and is never meant. */
function unsupported(algorithm: string): string {
  const meant = /^hs/i.test(algorithm)
    ? undefined
    : (algorithmNamed(algorithm) ?? similarName(algorithm, ALGORITHMS));
  const guess = meant === undefined ? '' : ` (did you mean ${meant}?)`;
  return `has an algorithm that is not supported${guess}; supported are ${ALGORITHMS.join(', ')}`;
}

function readPublicKey(pem: string): KeyObject | Fault {
  try {
    if (ONE_PUBLIC_KEY.test(pem)) return importKey(pem);
  } catch {
    // Falls through to the same problem as any other text.
  }
  return new Fault(`must be a PEM public key: it ${pemFault(pem, 'public key')}`);
}

/**
 * Reads a PEM. The point at infinity of an elliptic curve is read without complaint, and to ask node:crypto for its details
 * ends the process; but it cannot be written.
 */
function importKey(pem: string): KeyObject {
  const key = createPublicKey(pem);
  key.export({ type: 'spki', format: 'der' });
  return key;
}

function refuseMisfit(members: EntryMembers, key: KeyObject, algorithms: readonly Algorithm[]): void {
  if (algorithms.every((algorithm) => keyFits(key, algorithm))) return;
  const bits = key.asymmetricKeyDetails?.modulusLength ?? MINIMUM_RSA_BITS;
  if (bits < MINIMUM_RSA_BITS) members.problem('key', `has fewer than ${MINIMUM_RSA_BITS} bits`);
  else if (algorithmsFitting(key).length === 0)
    members.problem('key', 'is of a kind that no algorithm can use safely');
  else members.problem('key', 'does not fit the algorithms');
}

/** What a name leads to is seen at each fetch; an address in the URL itself can be checked at once. */
function warnOfAddress(members: EntryMembers, { hostname }: URL, rules: TrustedKeysRules): void {
  const { allowHttp, allowPrivate, jwksSettingNames = JWKS_SETTING_NAMES } = rules;
  const address = hostname === 'localhost' ? '127.0.0.1' : hostname.replace(/^\[|\]$/g, '');
  if (allowPrivate === undefined || isIP(address) === 0) return;
  const policy = new NetworkAddressPolicy({ allowLoopback: allowHttp, allowRanges: allowPrivate });
  if (policy.allows(address)) return;
  members.warning(
    'url',
    `its address is not public, so the service never fetches its keys; see ${settingThatAllows(address, jwksSettingNames)}`,
  );
}
