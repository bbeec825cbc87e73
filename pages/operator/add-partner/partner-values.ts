// Reads the answers of "Add a partner" from its form.
import type { PartnerAnswers, PartnerKeys } from '../../../src/administration/partners/partner-entry.js';
import { textIn } from '../form-data.js';

/** A public key that was read, or what is wrong with the text. */
export type ReadKey =
  { kid: string; algorithms: readonly string[]; key: string; problem: null } | { problem: string };

export type Kind = 'jwks' | 'key' | 'pair';

/** The names of fields are those of the entry, so that its problems are shown at them. */
export const FIELDS = [
  ...['name', 'issuer', 'emailDomains', 'url', 'key', 'kid'],
  ...['allowedRoles', 'projects', 'origins', 'maxTokenTtlSeconds', 'maxUsers'],
];

export function answersIn(data: FormData, audience: string): PartnerAnswers {
  const numberIn = (name: string) => {
    const text = textIn(data, name);
    return text === '' ? undefined : Number(text);
  };
  return {
    name: textIn(data, 'name'),
    issuer: textIn(data, 'issuer'),
    audience,
    emailDomains: listIn(data, 'emailDomains'),
    role: textIn(data, 'allowedRoles'),
    origins: listIn(data, 'origins'),
    projects: listIn(data, 'projects'),
    maxTokenTtlSeconds: numberIn('maxTokenTtlSeconds'),
    maxUsers: numberIn('maxUsers'),
  };
}

function listIn(data: FormData, name: string): string[] {
  return textIn(data, name)
    .split(/[,\s]+/)
    .filter((item) => item !== '');
}

/** @param read the public key: of the text, or of the pair */
export function keysIn(data: FormData, kind: Kind, read: ReadKey | undefined): PartnerKeys {
  if (kind === 'jwks') return { type: 'jwks', url: textIn(data, 'url') };
  const found = read?.problem === null ? read : { kid: '', algorithms: [], key: '' };
  const { kid, algorithms, key } = found;
  return { type: 'static', kid: textIn(data, 'kid') || kid, algorithms, key };
}

/** Whether a text is a private key: it is not sent anywhere, not even to be checked. */
export function isPrivateKey(text: string): boolean {
  return text.includes('PRIVATE KEY') || /"d"\s*:/.test(text);
}
