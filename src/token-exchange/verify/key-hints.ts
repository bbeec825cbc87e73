// What log and trail may say about an unverified token, whose key is not found or whose header is refused.
import { printable, printableList, printableName } from '../../platform/text/printable.js';
import type { RefusalContext } from '../refusals/oauth-refusal.js';
import { ALGORITHMS } from '../trust/algorithms.js';
import type { TrustedKeyService } from '../trust/lookup/trusted-key.service.js';
import type { CompactJws } from './compact-jws.js';

type Keys = Pick<TrustedKeyService, 'issuers' | 'keysOf'>;

/**
 * Issuer and kid of a token whose header is refused, if its issuer is trusted. Any other value could be arbitrary.
 * @rule D77 The log and the trail show an unverified token's algorithm, and its issuer and kid only if the issuer is trusted.
 */
export function claimedKey({ header, payload }: CompactJws, keys: Keys): RefusalContext {
  const { iss } = payload;
  const { kid } = header;
  if (typeof iss !== 'string' || !keys.issuers().has(iss)) return {};
  return { issuer: iss, ...(typeof kid === 'string' && kid !== '' ? { kid: printableName(kid) } : {}) };
}

/** The algorithms of the token's keys, or all supported ones if no key is found. */
export function usableAlgorithms({ header, payload }: CompactJws, keys: Keys): string {
  const held = typeof payload['iss'] === 'string' ? keys.keysOf(payload['iss']) : [];
  const served = held.filter(({ kid }) => kid === header['kid']).flatMap(({ algorithms }) => [...algorithms]);
  return printableList(served.length === 0 ? ALGORITHMS : new Set(served));
}

/** The kids of the issuer's keys. */
export function heldKids(issuer: string, keys: Keys): string {
  const kids = new Set(keys.keysOf(issuer).map((key) => key.kid));
  return kids.size === 0 ? 'a key of the issuer, which has none' : printableList(kids);
}

/** Shows the trusted issuer that an unknown issuer resembles, never the unknown one. Needs one pass over the issuers. */
export function likeness(issuer: string, trusted: ReadonlySet<string>): RefusalContext {
  const plain = plainIssuer(issuer);
  for (const expected of trusted) {
    if (plainIssuer(expected) !== plain) continue;
    return { expected: printable(expected), found: `the same except ${differenceOf(issuer, expected)}` };
  }
  return {};
}

/** Without the usual mistakes in issuers: scheme, letter case, trailing slashes. */
function plainIssuer(issuer: string): string {
  return withoutSlashes(withoutScheme(issuer).toLowerCase());
}

function differenceOf(issuer: string, expected: string): string {
  if (withoutSlashes(issuer) === withoutSlashes(expected)) return 'a slash at its end';
  if (issuer.toLowerCase() === expected.toLowerCase()) return 'its letter case';
  if (withoutScheme(issuer) === withoutScheme(expected)) return 'its scheme';
  return 'scheme, letter case or a slash at its end';
}

function withoutScheme(issuer: string): string {
  return issuer.replace(/^https?:\/\//i, '');
}

/** Without a regular expression, which would start anew at each slash. */
function withoutSlashes(issuer: string): string {
  let end = issuer.length;
  while (issuer[end - 1] === '/') end -= 1;
  return issuer.slice(0, end);
}
