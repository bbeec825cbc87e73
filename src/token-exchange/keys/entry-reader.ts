// Reads one trusted key entry, member by member, and goes on after a problem so that one start shows them all.
import type { KeyObject } from 'node:crypto';
import { createPublicKey } from 'node:crypto';
import { originOfText } from '../foundation/origin.js';
import { isJsonObject, isUnstorable } from '../foundation/strict-json.js';
import type { Algorithm } from './algorithms.js';
import { MINIMUM_RSA_BITS, algorithmsFitting, familyOf, isAlgorithm, keyFits } from './algorithms.js';
import type { TrustPolicy, TrustedKeyEntry } from './trusted-key.js';

/** What reading entries found. With problems the process must not start; values never appear in any text (D32). */
export interface TrustedKeysReading {
  entries: TrustedKeyEntry[];
  problems: string[];
  warnings: string[];
  /** What a good entry does that its author may not expect. */
  notes: string[];
}

/** What the reader must know of its host and configuration. */
export interface TrustedKeysRules {
  /** Roles that a claim can assign at all. */
  readonly assignableRoles: readonly string[];
  /** Whether `http:` JWKS addresses are allowed (D33). */
  readonly allowHttp: boolean;
}

const COMMON_MEMBERS = ['type', 'issuer', 'expectedAudience', 'allowedRoles', 'name', 'origins'];
const MEMBERS = {
  static: new Set([...COMMON_MEMBERS, 'kid', 'algorithms', 'key']),
  jwks: new Set([...COMMON_MEMBERS, 'url', 'cacheTtlSeconds']),
};
/** Optional policy of decisions.md that this version does not enforce; taking it silently would promise too much. */
const NOT_ENFORCED = new Set(
  (
    'requireVerifiedEmail emailDomains linkExistingUsers provisionUsers roleCeiling excludeOwner flows actFor ' +
    'notAfter'
  ).split(' '),
);
const MIN_CACHE_SECONDS = 60;
const MAX_CACHE_SECONDS = 86_400;
/** Issuer and subject together are a database key, whose length is limited. */
const MAX_ISSUER_BYTES = 512;
/** Enough of an unknown member's name to find it; a key pasted into the wrong member is not repeated whole. */
const MAX_NAME_CHARACTERS = 32;

/** Reads one entry of the list; problems and warnings go into the reading. */
export class EntryReader {
  private readonly members: Record<string, unknown>;
  private failed = false;

  constructor(
    private readonly index: number,
    value: unknown,
    private readonly rules: TrustedKeysRules,
    private readonly reading: TrustedKeysReading,
  ) {
    this.members = isJsonObject(value) ? value : {};
    if (!isJsonObject(value)) this.problem('', 'must be an object');
  }

  /** @rule 2.1.type An entry is static or jwks, and has no member that its type does not know. */
  read(): TrustedKeyEntry | undefined {
    if (this.failed) return undefined;
    const { type } = this.members;
    const policy = this.policy();
    if (type !== 'static' && type !== 'jwks') {
      this.problem('type', 'must be "static" or "jwks"');
      return undefined;
    }
    this.refuseUnknownMembers(MEMBERS[type]);
    const entry = type === 'static' ? this.staticEntry(policy) : this.jwksEntry(policy);
    return this.failed ? undefined : entry;
  }

  /** @rule 2.1.static.kid A static entry names the kid of its key. */
  private staticEntry(policy: TrustPolicy): TrustedKeyEntry | undefined {
    const kid = this.requiredText('kid');
    const algorithms = this.algorithms();
    const publicKey = this.publicKey();
    if (publicKey !== undefined) this.refuseMisfit(publicKey, algorithms);
    if (publicKey === undefined) return undefined;
    return { ...policy, type: 'static', key: { kid, algorithms: new Set(algorithms), publicKey, policy } };
  }

  private jwksEntry(policy: TrustPolicy): TrustedKeyEntry {
    const url = this.jwksUrl();
    const cacheTtlSeconds = this.cacheTtlSeconds();
    return { ...policy, type: 'jwks', url, cacheTtlSeconds };
  }

  /** @rule P.name An entry may have a name for logs and metrics. */
  private policy(): TrustPolicy {
    const issuer = this.issuer();
    const expectedAudience = this.optionalText('expectedAudience');
    const allowedRoles = this.allowedRoles();
    const origins = this.origins();
    return {
      entryIndex: this.index,
      label: this.optionalText('name') ?? `entry-${this.index}`,
      issuer,
      expectedAudience,
      allowedRoles: allowedRoles === undefined ? undefined : new Set(allowedRoles),
      origins: origins === undefined ? undefined : new Set(origins),
    };
  }

  /** @rule 2.1.issuer Every entry names its issuer by URL. */
  private issuer(): string {
    const issuer = this.requiredText('issuer');
    if (issuer === '') return issuer;
    if (!URL.canParse(issuer)) this.problem('issuer', 'must be a URL');
    if (Buffer.byteLength(issuer) > MAX_ISSUER_BYTES) {
      this.problem('issuer', `must have at most ${MAX_ISSUER_BYTES} bytes`);
    }
    return issuer;
  }

  private allowedRoles(): string[] | undefined {
    const { allowedRoles } = this.members;
    if (allowedRoles === undefined) return undefined;
    if (!isTextArray(allowedRoles)) {
      this.problem('allowedRoles', 'must be an array of strings');
      return undefined;
    }
    const useless = allowedRoles.filter((role) => !this.rules.assignableRoles.includes(role));
    if (useless.length > 0) {
      const roles = this.rules.assignableRoles.join(', ');
      this.warning(
        'allowedRoles',
        `has ${useless.length} role(s) that are never assigned; assignable are ${roles}`,
      );
    }
    return allowedRoles;
  }

  /** An empty list would let nobody in, which is never meant. */
  private origins(): string[] | undefined {
    const { origins } = this.members;
    if (origins === undefined) return undefined;
    const read = isTextArray(origins)
      ? origins.map(originOfText).filter((origin) => origin !== undefined)
      : [];
    if (isTextArray(origins) && read.length > 0 && read.length === origins.length) {
      this.note('origins', 'a login by GET is refused, and a post by a browser that names no origin');
      return read;
    }
    this.problem('origins', 'must be an array of at least one origin such as https://product.example');
    return undefined;
  }

  /** @rule 2.1.static.algorithms All algorithms of an entry are supported and of one family. */
  private algorithms(): Algorithm[] {
    const { algorithms } = this.members;
    if (!isTextArray(algorithms) || algorithms.length === 0) {
      this.problem('algorithms', 'must be an array of at least one algorithm');
      return [];
    }
    const supported = algorithms.filter(isAlgorithm);
    if (supported.length < algorithms.length) {
      this.problem('algorithms', 'has an algorithm that is not supported (HMAC and none never are)');
    }
    if (new Set(supported.map(familyOf)).size > 1) this.problem('algorithms', 'must be of one family');
    return supported;
  }

  /** @rule 2.1.static.key The key is a PEM public key that fits every algorithm of the entry. */
  private publicKey(): KeyObject | undefined {
    const pem = this.requiredText('key');
    if (pem === '') return undefined;
    if (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(pem)) {
      this.problem('key', 'is a private key; only the public key belongs here');
      return undefined;
    }
    try {
      if (/^\s*-----BEGIN (RSA )?PUBLIC KEY-----/.test(pem)) return importKey(pem);
    } catch {
      // Falls through to the same problem as any other text.
    }
    this.problem('key', 'must be a PEM public key');
    return undefined;
  }

  private refuseMisfit(key: KeyObject, algorithms: readonly Algorithm[]): void {
    if (algorithms.every((algorithm) => keyFits(key, algorithm))) return;
    const bits = key.asymmetricKeyDetails?.modulusLength ?? MINIMUM_RSA_BITS;
    if (bits < MINIMUM_RSA_BITS) this.problem('key', `has fewer than ${MINIMUM_RSA_BITS} bits`);
    else if (algorithmsFitting(key).length === 0)
      this.problem('key', 'is of a kind that no algorithm can use safely');
    else this.problem('key', 'does not fit the algorithms');
  }

  /** @rule 2.1.jwks.url A JWKS entry names an https: URL. */
  private jwksUrl(): string {
    const text = this.requiredText('url');
    if (text === '') return text;
    const url = URL.canParse(text) ? new URL(text) : undefined;
    const isAllowed = url?.protocol === 'https:' || (this.rules.allowHttp && url?.protocol === 'http:');
    if (!isAllowed) this.problem('url', 'must be an https: URL');
    else if (url.username !== '' || url.password !== '')
      this.problem('url', 'must not hold a user name or password');
    return text;
  }

  /** @rule 2.1.jwks.cacheTtlSeconds The fallback cache life is 60 to 86,400 seconds. */
  private cacheTtlSeconds(): number | undefined {
    const { cacheTtlSeconds: value } = this.members;
    if (value === undefined) return undefined;
    const isInRange =
      Number.isInteger(value) && Number(value) >= MIN_CACHE_SECONDS && Number(value) <= MAX_CACHE_SECONDS;
    if (!isInRange) {
      this.problem(
        'cacheTtlSeconds',
        `must be a whole number from ${MIN_CACHE_SECONDS} to ${MAX_CACHE_SECONDS}`,
      );
    }
    return Number(value);
  }

  private refuseUnknownMembers(known: ReadonlySet<string>): void {
    const unknown = Object.keys(this.members).filter((member) => !known.has(member));
    for (const member of unknown.filter((name) => NOT_ENFORCED.has(name))) {
      this.problem(member, 'is not enforced by this version; remove it');
    }
    for (const member of unknown.filter((name) => !NOT_ENFORCED.has(name))) {
      const name = JSON.stringify(member).slice(0, MAX_NAME_CHARACTERS);
      this.problem(name, `is not a known member; known are ${[...known].join(', ')}`);
    }
  }

  private requiredText(member: string): string {
    const value = this.members[member];
    if (typeof value === 'string' && value !== '' && !isUnstorable(value)) return value;
    this.problem(member, 'must be a non-empty string');
    return '';
  }

  private optionalText(member: string): string | undefined {
    return this.members[member] === undefined ? undefined : this.requiredText(member);
  }

  private problem(member: string, rule: string): void {
    this.failed = true;
    this.reading.problems.push(`${this.labelOf(member)}: ${rule}`);
  }

  private warning(member: string, rule: string): void {
    this.reading.warnings.push(`${this.labelOf(member)}: ${rule}`);
  }

  private note(member: string, text: string): void {
    this.reading.notes.push(`${this.labelOf(member)}: ${text}`);
  }

  private labelOf(member: string): string {
    return member === '' ? `entry ${this.index}` : `entry ${this.index}, ${member}`;
  }
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

function isTextArray(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((member) => typeof member === 'string');
}
