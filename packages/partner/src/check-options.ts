// Reads the arguments of `check`.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { readOptions } from './options.js';
import { PartnerError } from './partner-error.js';
import type { SigningAlgorithm, SigningKey } from './signing-key.js';

/** The two flows, with the names that `flows` of a trusted key entry uses. */
export const FLOWS = ['exchange', 'embed'] as const;
export type Flow = (typeof FLOWS)[number];

export interface CheckSettings {
  /** Without a slash at the end. */
  readonly baseUrl: string;
  readonly issuer: string;
  readonly audience: string;
  readonly key: SigningKey;
  readonly subject: string;
  readonly email: string | undefined;
  readonly flows: readonly Flow[];
  /** Maximum number of requests a minute to each of the two endpoints. */
  readonly perMinute: number;
  readonly isJson: boolean;
}

export const USAGE = `Usage: npx @embedded-token-exchange/partner check --base-url URL --key FILE --issuer URL [options]
       npx @embedded-token-exchange/partner explain --help

Tests an instance from outside, with your key, in about a minute and a half.

  --base-url URL     the instance, https://host[:port]; http: on this machine only
  --key FILE         your private key: a PEM that is not encrypted
  --issuer URL       your issuer, as registered
  --kid ID           as registered; the default is the key's thumbprint (RFC 7638)
  --alg NAME         if the key can sign with several: RS256, PS256 and so on
  --audience TEXT    as registered; the default is the base URL
  --subject ID       \`sub\` of the user of all tokens; the default is integration-check
  --email ADDRESS    e-mail address of this user; the instance needs it once, to create or link the user
  --flows LIST       exchange,embed (the default), or one of them if your entry allows only one
  --per-minute N     maximum number of requests a minute to each endpoint, 1 to 6000; the default is 15
  --allow-http       allows http: to another machine, for tests
  --json             prints one JSON document instead of a table
  --help             prints this text

Exit codes: 0 every check passed, 1 a check failed, 2 wrong arguments.
Example: npx @embedded-token-exchange/partner check --base-url https://instance.example --key partner-key.pem \\
  --kid partner-1 --issuer https://partner.example --audience https://instance.example
`;

const DEFAULT_SUBJECT = 'integration-check';
const DEFAULT_PER_MINUTE = 15;
const MAX_PER_MINUTE = 6000;
const OPTIONS = {
  'base-url': { type: 'string' },
  key: { type: 'string' },
  issuer: { type: 'string' },
  kid: { type: 'string' },
  alg: { type: 'string' },
  audience: { type: 'string' },
  subject: { type: 'string', default: DEFAULT_SUBJECT },
  email: { type: 'string' },
  flows: { type: 'string', default: FLOWS.join(',') },
  'per-minute': { type: 'string', default: String(DEFAULT_PER_MINUTE) },
  'allow-http': { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

/** The command was called with wrong arguments. Nothing was sent. */
export class Misuse extends Error {}

/**
 * @param args the arguments after the program's name
 * @returns undefined if the arguments ask for the usage
 * @throws Misuse
 */
export function readCheckArguments(args: readonly string[]): CheckSettings | undefined {
  const { values, positionals } = parsed(args);
  if (values.help) return undefined;
  if (positionals.length !== 1 || positionals[0] !== 'check')
    throw new Misuse(`The command is ${shown(positionals.join(' '))}. It must be check.`);
  const [baseUrl, file, issuer] = (['base-url', 'key', 'issuer'] as const).map((name) =>
    required(values, name),
  );
  return {
    ...partnerSettings({ ...values, baseUrl, issuer, pem: pemOf(file) }),
    subject: values.subject,
    email: values.email,
    flows: flowsOf(values.flows),
    perMinute: perMinuteOf(values['per-minute']),
    isJson: values.json,
  };
}

type Values = ReturnType<typeof parsed>['values'];

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new Misuse((error as Error).message);
  }
}

function required(values: Values, name: 'base-url' | 'key' | 'issuer'): string {
  const value = values[name];
  if (value === undefined || value === '') throw new Misuse(`--${name} is missing.`);
  return value;
}

/** @throws Misuse */
export function pemOf(file = ''): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Misuse(`--key ${shown(file)} cannot be read: ${code}.`);
  }
}

interface PartnerArguments {
  readonly baseUrl: string | undefined;
  readonly issuer: string | undefined;
  readonly pem: string;
  readonly kid?: string | undefined;
  readonly alg?: string | undefined;
  readonly audience?: string | undefined;
  readonly 'allow-http': boolean;
}

/** Uses the client's own reader, so that `check` and the client accept the same options. */
function partnerSettings(
  given: PartnerArguments,
): Pick<CheckSettings, 'baseUrl' | 'issuer' | 'audience' | 'key'> {
  const { baseUrl = '', issuer = '', pem, kid, alg, audience } = given;
  const key = {
    key: pem,
    ...(kid === undefined ? {} : { kid }),
    ...(alg === undefined ? {} : { alg: alg as SigningAlgorithm }),
  };
  const options = { baseUrl, issuer, key, allowHttp: given['allow-http'] };
  try {
    const read = readOptions(audience === undefined ? options : { ...options, audience });
    return { baseUrl: read.origin, issuer: read.issuer, audience: read.audience, key: read.keys[0] };
  } catch (error) {
    if (error instanceof PartnerError) throw new Misuse(`${error.message}.`);
    throw error;
  }
}

function flowsOf(list: string): Flow[] {
  const names = list.split(',').map((name) => name.trim());
  const flows = FLOWS.filter((flow) => names.includes(flow));
  if (names.some((name) => !(FLOWS as readonly string[]).includes(name)))
    throw new Misuse(`--flows is ${shown(list)}. It must be exchange, embed, or both with a comma.`);
  return flows;
}

function perMinuteOf(text: string): number {
  const value = Number(text);
  if (/^\d{1,4}$/.test(text) && value >= 1 && value <= MAX_PER_MINUTE) return value;
  throw new Misuse(`--per-minute is ${shown(text)}. It must be a number from 1 to ${MAX_PER_MINUTE}.`);
}

export function shown(text: string): string {
  return JSON.stringify(text.slice(0, 200));
}
