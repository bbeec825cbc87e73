// Checks the options of a partner and adds the defaults.
import type { PartnerClock } from './clock.js';
import { readClock } from './clock.js';
import { DpopKey } from './dpop-key.js';
import { requireObject } from './own-copy.js';
import { invalidOption } from './partner-error.js';
import type { KeyInput } from './signing-key.js';
import { SigningKey } from './signing-key.js';

export interface PartnerOptions {
  /** Your issuer URL, exactly as in the instance's entry. */
  readonly issuer: string;
  /** The instance's base address: `https://host[:port]`. */
  readonly baseUrl: string;
  /** The private key that signs. */
  readonly key: KeyInput;
  /** The next signing key. `jwks()` already contains it, so the instance knows it in time. */
  readonly nextKey?: KeyInput;
  /** Further keys of `jwks()`: the former key until its tokens have expired, and keys that sign if `kid` names them. */
  readonly otherKeys?: readonly KeyInput[];
  /** The `aud` of tokens, as in the trusted key entry. Default: `baseUrl`. */
  readonly audience?: string;
  /**
   * The lifetime of exchanged tokens, 5 to 3600 seconds, default 600. An access token lives no longer. A short lifetime means more
   * exchanges, and an address has 20 a minute. Tokens for embedded login live at most 55 seconds.
   */
  readonly tokenLifetimeSeconds?: number;
  /** The maximum number of requests for one exchange, 1 to 10, default 3. Only 429 and 503 are retried. */
  readonly maxTries?: number;
  /** The longest time of one exchange including waits, 1 to 600 seconds, default 75. A 429 asks for a wait of up to a minute. */
  readonly timeoutSeconds?: number;
  /** The maximum number of access tokens to keep, 0 to 1000000, default 10000. */
  readonly cacheSize?: number;
  /**
   * Binds tokens to a key in this process's memory (DPoP, RFC 9449), so that nobody else can use them. Calls of the API then need
   * `headersFor`, and `baseUrl` must be the instance's own base address. Default: Bearer tokens.
   */
  readonly dpop?: boolean;
  /** Allows `http:` to another machine. Tokens are then sent unencrypted, so use it only for tests. */
  readonly allowHttp?: boolean;
  /** Replaces the global `fetch`, for example to use a proxy. */
  readonly fetch?: typeof fetch;
  /** Replaces the system's clock in tests. */
  readonly clock?: PartnerClock;
}

export interface Settings {
  readonly issuer: string;
  readonly origin: string;
  readonly audience: string;
  /** The first one signs. */
  readonly keys: readonly [SigningKey, ...SigningKey[]];
  readonly tokenLifetimeSeconds: number;
  readonly maxTries: number;
  readonly timeoutSeconds: number;
  readonly cacheSize: number;
  /** Undefined for Bearer tokens. */
  readonly dpopKey: DpopKey | undefined;
  readonly fetch: typeof fetch;
  readonly clock: PartnerClock;
}

const OPTIONS = {
  issuer: true,
  baseUrl: true,
  key: true,
  nextKey: true,
  otherKeys: true,
  audience: true,
  tokenLifetimeSeconds: true,
  maxTries: true,
  timeoutSeconds: true,
  cacheSize: true,
  dpop: true,
  allowHttp: true,
  fetch: true,
  clock: true,
} as const;
const LONGEST_ISSUER_BYTES = 512;
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** @throws PartnerError `invalid_option` */
export function readOptions(options: PartnerOptions): Settings {
  requireObject(options, 'options', OPTIONS);
  const { issuer } = options;
  if (typeof issuer !== 'string' || !isUrl(issuer) || Buffer.byteLength(issuer) > LONGEST_ISSUER_BYTES)
    throw invalidOption(`issuer must be a URL of at most ${LONGEST_ISSUER_BYTES} bytes`);
  const origin = originOf(options);
  const { audience = origin } = options;
  if (typeof audience !== 'string' || audience === '') throw invalidOption('audience must be a text');
  if (options.fetch !== undefined && typeof options.fetch !== 'function')
    throw invalidOption('fetch must be a function');
  const clock = readClock(options.clock);
  return {
    issuer,
    origin,
    audience,
    keys: keysOf(options),
    tokenLifetimeSeconds: within('tokenLifetimeSeconds', options.tokenLifetimeSeconds, [5, 600, 3600]),
    maxTries: within('maxTries', options.maxTries, [1, 3, 10]),
    timeoutSeconds: within('timeoutSeconds', options.timeoutSeconds, [1, 75, 600]),
    cacheSize: within('cacheSize', options.cacheSize, [0, 10_000, 1_000_000]),
    dpopKey: dpopKeyOf(options, clock),
    fetch: options.fetch ?? ((...given) => fetch(...given)),
    clock,
  };
}

function dpopKeyOf({ dpop }: PartnerOptions, clock: PartnerClock): DpopKey | undefined {
  return isOn('dpop', dpop) ? new DpopKey(clock) : undefined;
}

function isOn(name: string, value = false): boolean {
  if (typeof value !== 'boolean') throw invalidOption(`${name} must be true or false`);
  return value;
}

function keysOf(options: PartnerOptions): Settings['keys'] {
  const { key, nextKey, otherKeys = [] } = options;
  if (!Array.isArray(otherKeys)) throw invalidOption('otherKeys must be a list');
  const others = [...(nextKey === undefined ? [] : [nextKey]), ...(otherKeys as readonly KeyInput[])];
  const first = SigningKey.read(key, 'key');
  const rest = others.map((each, index) => SigningKey.read(each, nameOfOther(options, index)));
  for (const [index, each] of rest.entries())
    // A verifier could not tell which of the two has signed.
    if ([first, ...rest.slice(0, index)].some((other) => other.isNamedLike(each)))
      throw invalidOption(
        `${nameOfOther(options, index)} has the kid of another key: each needs one of its own`,
      );
  return [first, ...rest];
}

function originOf({ baseUrl, ...options }: PartnerOptions): string {
  const allowHttp = isOn('allowHttp', options.allowHttp);
  if (typeof baseUrl !== 'string' || !isUrl(baseUrl)) throw invalidOption('baseUrl must be a URL');
  const { protocol, hostname, origin, href } = new URL(baseUrl);
  if (href !== `${origin}/`)
    throw invalidOption('baseUrl must be an origin, without path, query or password');
  const isSafe = protocol === 'https:' || (protocol === 'http:' && (allowHttp || LOOPBACK.test(hostname)));
  if (!isSafe) throw invalidOption('baseUrl must be https:, except on this machine; see allowHttp');
  return origin;
}

function nameOfOther({ nextKey }: PartnerOptions, index: number): string {
  if (nextKey === undefined) return `otherKeys[${index}]`;
  return index === 0 ? 'nextKey' : `otherKeys[${index - 1}]`;
}

function within(
  name: string,
  value: number | undefined,
  range: [min: number, usual: number, max: number],
): number {
  const [min, usual, max] = range;
  if (value === undefined) return usual;
  if (!Number.isInteger(value) || value < min || value > max)
    throw invalidOption(`${name} must be a whole number from ${min} to ${max}`);
  return value;
}

/** Avoids `URL.canParse`: in Node.js 20 its optimized version misreads a string with é. */
export function isUrl(text: string): boolean {
  try {
    return new URL(text).href !== '';
  } catch {
    return false;
  }
}
