// Formats of environment variables. No message repeats the value, because a path or a query may authenticate
// the sender to a receiver.
import { readFileSync } from 'node:fs';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { read } from '../platform/input/schemas.js';
import { explainJsonError, isJsonObject, JsonError, parseStrictJson } from '../platform/json/strict-json.js';
import {
  areTooManyOrigins,
  MAX_ORIGINS_CHARACTERS,
  originOfText,
  pageOrigin,
} from '../platform/text/origin.js';
import { parsedUrl } from '../platform/text/url.js';
import type { Transmitter } from '../token-exchange/instance.js';
import { TRANSMITTERS } from '../token-exchange/instance.js';
import { line } from './variable.js';

/** AES-256. */
export const ENCRYPTION_KEY_BYTES = 32;
export const NEW_ENCRYPTION_KEY = `openssl rand -base64 ${ENCRYPTION_KEY_BYTES}`;
const SHORTEST_WEBHOOK_SECRET = 32;

/** CIDR ranges; none by default. */
export function cidrRanges() {
  return z.array(line().refine((text) => ipaddr.isValidCIDR(text), 'is not a CIDR range')).default([]);
}

/** Keys in base64; none by default. */
export function encryptionKeys() {
  const key = line()
    .refine(
      isEncryptionKey,
      `is not ${ENCRYPTION_KEY_BYTES} bytes in base64; ${NEW_ENCRYPTION_KEY} makes such a key`,
    )
    .transform((text) => Buffer.from(text, 'base64'));
  return z.array(key).default([]);
}

function isEncryptionKey(text: string): boolean {
  const key = Buffer.from(text, 'base64');
  return (
    key.length === ENCRYPTION_KEY_BYTES &&
    key.toString('base64').replace(/=+$/, '') === text.replace(/=+$/, '')
  );
}

export function databaseUrl() {
  return line()
    .refine((text) => /^postgres(ql)?:\/\//.test(text), { error: 'must be a postgres:// URL', abort: true })
    .refine(
      (text) => parsedUrl(text) !== undefined,
      'must be a postgres:// URL; its user name and password are percent-encoded',
    )
    .optional();
}

export function webhookUrl() {
  return line()
    .refine((text) => /^https?:$/.test(parsedUrl(text)?.protocol ?? ''), {
      error: 'must be an https:// URL',
      abort: true,
    })
    .refine((text) => {
      const { username, password } = new URL(text);
      return username === '' && password === '';
    }, 'must have no user name and no password')
    .optional();
}

/** Secrets that sign posts; none by default. */
export function webhookSecrets() {
  const secret = line().min(SHORTEST_WEBHOOK_SECRET, `has fewer than ${SHORTEST_WEBHOOK_SECRET} characters`);
  return z.array(secret).default([]);
}

/** Name, in lower case, and value. */
export type Header = readonly [name: string, value: string];

/** Headers that the HTTP client or the webhook sets. */
const OWN_HEADERS = [
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
  'user-agent',
  'x-audit-signature',
];

/** One header per line; none by default. Empty lines are skipped. */
export function webhookHeaders() {
  return z
    .string()
    .transform((text, context): readonly Header[] => {
      const headers = new Map<string, string>();
      for (const [index, line] of text.split(/\r?\n/).entries()) {
        if (line.trim() === '') continue;
        const { name, value, problem } = readHeader(line);
        if (problem === undefined && !headers.has(name)) headers.set(name, value);
        else context.addIssue(problem === undefined ? 'has a header twice' : `line ${index + 1} ${problem}`);
      }
      return [...headers];
    })
    .default([]);
}

function readHeader(line: string): { name: string; value: string; problem?: string } {
  const [, field = '', value = ''] = /^([\w!#$%&'*+.^`|~-]+):\s*(.*?)\s*$/.exec(line) ?? [];
  const name = field.toLowerCase();
  if (value === '') return { name, value, problem: 'must be `Name: value`' };
  if (/[^\t\x20-\x7e]/.test(value))
    return { name, value, problem: 'has a character that the value of a header cannot contain; use ASCII' };
  const isOwn = OWN_HEADERS.includes(name);
  return { name, value, ...(isOwn && { problem: `sets ${name}, which the service sets itself` }) };
}

export function syslogUrl() {
  return line().refine(isSyslogUrl, 'must be tls://host:port or tcp://host:port').optional();
}

function isSyslogUrl(text: string): boolean {
  const [, port] = /^(?:tls|tcp):\/\/(?:[\w.-]+|\[[\da-f:.]+\]):(\d{1,5})$/i.exec(text) ?? [];
  return port !== undefined && Number(port) >= 1 && Number(port) <= 65_535;
}

export function origin() {
  return line()
    .refine(
      (text) => originOfText(text) !== undefined,
      'must be an origin such as https://instance.example, without a path',
    )
    .optional();
}

/** Other sites' origins, as browsers write them; none by default. */
export function origins() {
  const one = line()
    .refine(
      (text) => pageOrigin(text) !== undefined,
      'is not an exact origin such as https://product.example',
    )
    .transform((text) => pageOrigin(text) ?? text);
  return z
    .array(one)
    .refine(
      (all) => !areTooManyOrigins(all, 'setting'),
      `must have at most ${MAX_ORIGINS_CHARACTERS.setting} characters, because every response has them in a header`,
    )
    .default([]);
}

/** None by default. All problems of files are reported at once, or else all others. */
export function transmitters() {
  return z
    .string()
    .transform((text, context): readonly Transmitter[] => {
      const problems: string[] = [];
      const given = withSecrets(parsed(text, problems), problems);
      const reading = problems.length > 0 ? { problems: [] } : read(TRANSMITTERS, given);
      if ('value' in reading) return reading.value;
      problems.push(...reading.problems.map(({ path, rule }) => worded(path, rule)));
      context.addIssue(problems.join('; '));
      return z.NEVER;
    })
    .default([]);
}

function parsed(text: string, problems: string[]): unknown {
  try {
    return parseStrictJson(text);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    problems.push(explainJsonError(error, text));
    return [];
  }
}

/** With what their files hold, without the end of the last line. */
function withSecrets(list: unknown, problems: string[]): unknown {
  if (!Array.isArray(list)) return list;
  return list.map((one: unknown, index) => {
    if (!isJsonObject(one)) return one;
    const { secretFile, ...others } = one;
    if (typeof secretFile !== 'string') return others;
    try {
      return { ...others, secret: readFileSync(secretFile, 'utf8').replace(/\r?\n$/, '') };
    } catch (error) {
      const { code = 'unknown error' } = error as NodeJS.ErrnoException;
      problems.push(worded(`${index}.secretFile`, `cannot be read (${code})`));
      return others;
    }
  });
}

/** `transmitter 2, issuer must be a URL`. */
function worded(path: string, rule: string): string {
  const [index, member] = path.split('.');
  if (index === undefined || index === '') return rule;
  const name = member === 'secret' ? 'secretFile' : member;
  return `transmitter ${Number(index) + 1}${name === undefined ? '' : `, ${name}`} ${rule}`;
}
