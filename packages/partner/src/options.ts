// Reads what a partner is made with, and fills in what was left out.
import type { PartnerClock } from './clock.js';
import { readClock } from './clock.js';
import { DpopKey } from './dpop-key.js';
import { requireObject } from './own-copy.js';
import { invalidOption } from './partner-error.js';
import type { KeyInput } from './signing-key.js';
import { SigningKey } from './signing-key.js';

export interface PartnerOptions {
  /** Your issuer URL, character by character as the instance has it registered. */
  readonly issuer: string;
  /** The instance: `https://host[:port]`. */
  readonly baseUrl: string;
  /** The private key that signs. */
  readonly key: KeyInput;
  /** The key that signs next: `jwks()` has it already, so that the instance knows it by then. */
  readonly nextKey?: KeyInput;
  /** Others that `jwks()` has: the former key until its tokens are gone, and keys that sign where `kid` names them. */
  readonly otherKeys?: readonly KeyInput[];
  /** `aud` of tokens, as in the trusted key entry; `baseUrl` if left out. */
  readonly audience?: string;
  /**
   * Life of the tokens that are exchanged, 5 to 3600 seconds, default 600. An access token lives no longer: the shorter, the more often
   * each user needs an exchange, and an address has 20 a minute. Tokens of the embedded login live at most 55.
   */
  readonly tokenLifetimeSeconds?: number;
  /** Maximum number of requests for one exchange, 1 to 10, default 3: what 429 and 503 answer is tried again. */
  readonly maxTries?: number;
  /** Longest time of one exchange, with all waiting, 1 to 600 seconds, default 75: a 429 asks for up to a minute. */
  readonly timeoutSeconds?: number;
  /** Maximum number of access tokens that it keeps, 0 to 1000000, default 10000. */
  readonly cacheSize?: number;
  /**
   * Binds tokens to a key that this partner makes and keeps in memory (DPoP, RFC 9449): nobody else can use them. Calls of the API then need
   * `headersFor`. The instance has to be reached at its own base address. Default: Bearer tokens.
   */
  readonly dpop?: boolean;
  /** Allows `http:` to another machine. Tokens then go through the network in the clear: for tests only. */
  readonly allowHttp?: boolean;
  /** In place of the global `fetch`: one that goes through a proxy, for example. */
  readonly fetch?: typeof fetch;
  /** In place of the system's clock: for tests. */
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
  /** Undefined: for Bearer tokens. */
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
    // Whoever verifies could not tell which of the two has signed.
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

/** Not `URL.canParse`: once Node.js 20 has compiled its caller, it reads a text with é as other letters. */
export function isUrl(text: string): boolean {
  try {
    return new URL(text).href !== '';
  } catch {
    return false;
  }
}
