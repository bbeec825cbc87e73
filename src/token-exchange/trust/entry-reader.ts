// Reads one trusted key entry: its type, its key or where its keys are fetched, and its policy.
import type { KeyObject } from 'node:crypto';
import { createPublicKey } from 'node:crypto';
import { isIP } from 'node:net';
import { similarName } from '../../platform/text/wording.js';
import type { Algorithm } from './algorithms.js';
import {
  ALGORITHMS,
  MINIMUM_RSA_BITS,
  algorithmNamed,
  algorithmsFitting,
  familyOf,
  isAlgorithm,
  keyFits,
} from './algorithms.js';
import { pemFault } from '../../platform/text/pem-fault.js';
import { MAX_KID_BYTES } from './jwks-content.js';
import { EntryMembers, isTextArray } from './entry-members.js';
import type { Findings } from './entry-members.js';
import type { JwksUrlRules } from './jwks-url.js';
import { JWKS_SETTING_NAMES, urlFault } from './jwks-url.js';
import { NetworkAddressPolicy, settingThatAllows } from '../../platform/http/network-address.js';
import type { PolicyRules } from './policy-reader.js';
import { POLICY_MEMBERS, readPolicy } from './policy-reader.js';
import type { TrustPolicy } from './trust-policy.js';
import { readClients, warnOfClients } from './client-reader.js';
import type { JwksEntry, StaticKeyEntry, TrustedKeyEntry } from './trusted-key.js';

/** Facts of the host and its configuration for the reader. */
export interface TrustedKeysRules extends PolicyRules, JwksUrlRules {
  /** CIDR ranges that are not public and yet allowed (D33). Addresses are not checked where it is left out: a fetch does it. */
  readonly allowPrivate?: readonly string[];
}

const MEMBERS = {
  static: new Set(['type', ...POLICY_MEMBERS, 'kid', 'algorithms', 'key']),
  jwks: new Set(['type', ...POLICY_MEMBERS, 'url', 'cacheTtlSeconds']),
};
/** And nothing after it, which would be kept and shown without a check. */
const ONE_PUBLIC_KEY =
  /^\s*-----BEGIN (RSA )?PUBLIC KEY-----[A-Za-z\d+/=\s]+-----END (RSA )?PUBLIC KEY-----\s*$/;
const MIN_CACHE_SECONDS = 60;
const MAX_CACHE_SECONDS = 86_400;

/**
 * Reads one entry; undefined where it has a problem.
 * @param index in the list; undefined where it stands alone
 * @rule 2.1.type An entry is static or jwks, and has no member that its type does not know.
 */
export function readEntry(
  index: number | undefined,
  value: unknown,
  rules: TrustedKeysRules,
  findings: Findings,
): TrustedKeyEntry | undefined {
  const members = new EntryMembers(index, value, findings);
  if (members.hasProblem) return undefined;
  const policy = { ...readPolicy(members, rules), clients: readClients(members, rules) };
  warnOfClients(members, policy);
  const type = members.value('type');
  if (type !== 'static' && type !== 'jwks') {
    members.problem('type', 'must be "static" or "jwks"');
    return undefined;
  }
  members.refuseUnknown(MEMBERS[type], MEMBERS[type === 'static' ? 'jwks' : 'static']);
  const entry = type === 'static' ? staticEntry(members, policy) : jwksEntry(members, policy, rules);
  return members.hasProblem ? undefined : entry;
}

/** @rule 2.1.static.kid A static entry names the kid of its key. */
function staticEntry(members: EntryMembers, policy: TrustPolicy): StaticKeyEntry | undefined {
  const kid = members.requiredText('kid');
  if (Buffer.byteLength(kid) > MAX_KID_BYTES)
    members.problem('kid', `must have at most ${MAX_KID_BYTES} bytes`);
  const algorithms = readAlgorithms(members);
  const publicKey = readPublicKey(members);
  if (publicKey === undefined) return undefined;
  refuseMisfit(members, publicKey, algorithms);
  return { ...policy, type: 'static', key: { kid, algorithms: new Set(algorithms), publicKey, policy } };
}

/** @rule 2.1.jwks.cacheTtlSeconds = 8.13 The fallback cache life is 60 to 86,400 seconds. */
function jwksEntry(members: EntryMembers, policy: TrustPolicy, rules: TrustedKeysRules): JwksEntry {
  const url = readUrl(members, rules);
  const cacheTtlSeconds = members.optionalInteger('cacheTtlSeconds', MIN_CACHE_SECONDS, MAX_CACHE_SECONDS);
  return { ...policy, type: 'jwks', url, cacheTtlSeconds };
}

/** @rule 2.1.static.algorithms All algorithms of an entry are supported and of one family. */
function readAlgorithms(members: EntryMembers): Algorithm[] {
  const algorithms = members.value('algorithms');
  if (!isTextArray(algorithms) || algorithms.length === 0) {
    members.problem('algorithms', 'must be an array of at least one algorithm');
    return [];
  }
  const supported = algorithms.filter(isAlgorithm);
  const unknown = algorithms.find((algorithm) => !isAlgorithm(algorithm));
  if (unknown !== undefined) members.problem('algorithms', unsupported(unknown));
  if (new Set(supported.map(familyOf)).size > 1) members.problem('algorithms', 'must be of one family');
  return supported;
}

/** Names the nearest supported algorithm, but for HMAC, which differs from RSA by one letter and is never meant. */
function unsupported(algorithm: string): string {
  const meant = /^hs/i.test(algorithm)
    ? undefined
    : (algorithmNamed(algorithm) ?? similarName(algorithm, ALGORITHMS));
  const guess = meant === undefined ? '' : ` (did you mean ${meant}?)`;
  return `has an algorithm that is not supported${guess}; supported are ${ALGORITHMS.join(', ')}`;
}

/** @rule 2.1.static.key The key is a PEM public key that fits every algorithm of the entry. */
function readPublicKey(members: EntryMembers): KeyObject | undefined {
  const pem = members.requiredText('key');
  if (pem === '') return undefined;
  if (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(pem)) {
    members.problem('key', 'is a private key; only the public key belongs here');
    return undefined;
  }
  try {
    if (ONE_PUBLIC_KEY.test(pem)) return importKey(pem);
  } catch {
    // Falls through to the same problem as any other text.
  }
  members.problem('key', `must be a PEM public key: it ${pemFault(pem, 'public key')}`);
  return undefined;
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

/** @rule 2.1.jwks.url A JWKS entry names an https: URL. */
function readUrl(members: EntryMembers, rules: TrustedKeysRules): string {
  const text = members.requiredText('url');
  if (text === '') return text;
  const fault = urlFault(text, rules);
  if (fault === undefined) warnOfAddress(members, new URL(text), rules);
  else members.problem('url', fault);
  return text;
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
    `its address is not public, so no key is ever fetched; see ${settingThatAllows(address, jwksSettingNames)}`,
  );
}
