// The texts that variables may have: what is wrong with one, or its value.
import ipaddr from 'ipaddr.js';
import { MOST_ORIGINS_CHARACTERS, areTooManyOrigins, originOfText } from '../platform/text/origin.js';
import type { Parsed } from './variable.js';
import { parsedUrl } from '../platform/text/url.js';

/** AES-256. */
export const ENCRYPTION_KEY_BYTES = 32;
/** The command that makes a key. */
export const NEW_ENCRYPTION_KEY = `openssl rand -base64 ${ENCRYPTION_KEY_BYTES}`;
const SHORTEST_WEBHOOK_SECRET = 32;

export function parseCidr(value: string): Parsed<string> {
  return ipaddr.isValidCIDR(value) ? { value } : { problem: 'is not a CIDR range' };
}

export function parseEncryptionKey(value: string): Parsed<Buffer> {
  const key = Buffer.from(value, 'base64');
  const canonical = key.toString('base64').replace(/=+$/, '') === value.replace(/=+$/, '');
  if (canonical && key.length === ENCRYPTION_KEY_BYTES) return { value: key };
  return {
    problem: `is not ${ENCRYPTION_KEY_BYTES} bytes in base64; ${NEW_ENCRYPTION_KEY} makes such a key`,
  };
}

export function checkDatabaseUrl(value: string): string | undefined {
  if (!/^postgres(ql)?:\/\//.test(value)) return 'must be a postgres:// URL';
  return parsedUrl(value)
    ? undefined
    : 'must be a postgres:// URL; its user name and password are percent-encoded';
}

/** The problem never repeats the text: a path or a query may be what the receiver knows its sender by. */
export function checkWebhookUrl(value: string): string | undefined {
  const url = parsedUrl(value);
  if (url === undefined || !['https:', 'http:'].includes(url.protocol)) return 'must be an https:// URL';
  if (url.username !== '' || url.password !== '') return 'must have no user name and no password';
  return undefined;
}

export function parseWebhookSecret(value: string): Parsed<string> {
  if (value.length >= SHORTEST_WEBHOOK_SECRET) return { value };
  return { problem: `has fewer than ${SHORTEST_WEBHOOK_SECRET} characters` };
}

/** Name, in small letters, and value. */
export type Header = readonly [name: string, value: string];

/** The HTTP client or the webhook sets these. */
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

export function parseWebhookHeader(line: string): Parsed<Header> {
  const [, name = '', value = ''] = /^([\w!#$%&'*+.^`|~-]+):\s*(.*?)\s*$/.exec(line) ?? [];
  if (value === '') return { problem: 'must be `Name: value`' };
  if (/[^\t\x20-\x7e]/.test(value))
    return { problem: 'has a character that the value of a header cannot contain; use ASCII' };
  const lowerCase = name.toLowerCase();
  return OWN_HEADERS.includes(lowerCase)
    ? { problem: `sets ${lowerCase}, which the service sets itself` }
    : { value: [lowerCase, value] };
}

export function checkWebhookHeaders(headers: readonly Header[]): string | undefined {
  return new Set(headers.map(([name]) => name)).size < headers.length ? 'has a header twice' : undefined;
}

export function checkSyslogUrl(value: string): string | undefined {
  const [, port] = /^(?:tls|tcp):\/\/(?:[\w.-]+|\[[\da-f:.]+\]):(\d{1,5})$/i.exec(value) ?? [];
  return port !== undefined && Number(port) >= 1 && Number(port) <= 65_535
    ? undefined
    : 'must be tls://host:port or tcp://host:port';
}

export function checkOrigin(value: string): string | undefined {
  return originOfText(value) === undefined
    ? 'must be an origin such as https://instance.example, without a path'
    : undefined;
}

export function parseOrigin(value: string): Parsed<string> {
  const origin = originOfText(value);
  return origin === undefined
    ? { problem: 'is not an origin such as https://product.example' }
    : { value: origin };
}

export function checkOriginsTogether(origins: readonly string[]): string | undefined {
  return areTooManyOrigins(new Set(origins))
    ? `must have at most ${MOST_ORIGINS_CHARACTERS} characters, since a header of every answer names them all`
    : undefined;
}
