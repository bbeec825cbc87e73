// Reads the answers of "Add a partner" from its form.
import type { PartnerAnswers, PartnerKeys } from '../../../src/administration/partners/partner-entry.js';
import { partnerEntry } from '../../../src/administration/partners/partner-entry.js';
import type { EntryForm } from '../entry-values.js';
import { policyIn } from '../entry-values.js';
import { textIn } from '../form-data.js';

/** A public key, or the problem of its text. */
export type ReadKey =
  { kid: string; algorithms: readonly string[]; key: string; problem: null } | { problem: string };

export type Kind = 'jwks' | 'key' | 'pair';

/** The fields have the names of the entry's properties, so that problems appear at them. */
const ASKED = [
  ...['name', 'issuer', 'emailDomains', 'url', 'key', 'kid', 'algorithms'],
  ...['allowedRoles', 'projects.mayAssign', 'origins', 'maxTokenTtlSeconds', 'maxUsers'],
];

/** The fields without a question. */
export function otherFields(form: EntryForm): EntryForm {
  const isOther = (name: string) => !ASKED.includes(name);
  return form.map(({ title, fields }) => ({
    title,
    fields: fields
      .filter(({ name }) => isOther(name))
      .map(({ members, ...field }) => ({
        ...field,
        members: members?.filter(({ name }) => isOther(`${field.name}.${name}`)),
      })),
  }));
}

/** The names of all fields. */
export function fieldNames(form: EntryForm): string[] {
  return [...ASKED, ...form.flatMap(({ fields }) => fields.map(({ name }) => name))];
}

export function entryIn(data: FormData, keys: PartnerKeys, form: EntryForm) {
  const others = policyIn(
    data,
    otherFields(form).flatMap(({ fields }) => fields),
  );
  return partnerEntry(keys, answersIn(data), others);
}

function answersIn(data: FormData): PartnerAnswers {
  const numberIn = (name: string) => {
    const text = textIn(data, name);
    return text === '' ? undefined : Number(text);
  };
  return {
    name: textIn(data, 'name'),
    issuer: textIn(data, 'issuer'),
    emailDomains: listIn(data, 'emailDomains'),
    role: textIn(data, 'allowedRoles'),
    origins: listIn(data, 'origins'),
    projects: listIn(data, 'projects.mayAssign'),
    maxTokenTtlSeconds: numberIn('maxTokenTtlSeconds'),
    maxUsers: numberIn('maxUsers'),
  };
}

function listIn(data: FormData, name: string): string[] {
  return textIn(data, name)
    .split(/[,\s]+/)
    .filter((item) => item !== '');
}

/** @param read the public key, from the text or from the pair */
export function keysIn(data: FormData, kind: Kind, read: ReadKey | undefined): PartnerKeys {
  if (kind === 'jwks') return { type: 'jwks', url: textIn(data, 'url') };
  const found = read?.problem === null ? read : { kid: '', algorithms: [], key: '' };
  const { kid, algorithms, key } = found;
  const chosen = textIn(data, 'algorithms');
  const signing = chosen === '' ? algorithms : [chosen];
  return { type: 'static', kid: textIn(data, 'kid') || kid, algorithms: signing, key };
}

/** Whether a text is a private key. It is never sent, not even to be checked. */
export function isPrivateKey(text: string): boolean {
  return text.includes('PRIVATE KEY') || /"d"\s*:/.test(text);
}
