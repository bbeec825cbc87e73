// Reads the fields of a trusted entry from the data of its form, and says what holds where a field is left out.
import type { AnswerOf } from './api.js';
import { textIn } from './form-data.js';
import { byLabels, sentenceOf, valueInWords } from './words.js';

/** The form as the instance describes it: groups of fields. */
export type EntryForm = AnswerOf<'GET /overview'>['entryForm'];
export type PolicyField = EntryForm[number]['fields'][number];
/** What fields are called, by their names. */
export type Labels = Readonly<Record<string, string>>;
export type Definition = Readonly<Record<string, unknown>>;

/** The fields that tell an entry from others, and its keys. */
export const IDENTITY = ['name', 'issuer', 'type', 'url', 'kid', 'algorithms', 'key'];

export function identityIn(data: FormData): Definition {
  const text = (name: string) => textIn(data, name);
  const type = text('type');
  const keys =
    type === 'jwks'
      ? { url: text('url') }
      : { kid: text('kid'), algorithms: data.getAll('algorithms'), key: `${text('key')}\n` };
  return { type, name: text('name'), issuer: text('issuer'), ...keys };
}

/** Without the fields that are left out. @param prefix of the fields of a structure */
export function policyIn(data: FormData, fields: readonly PolicyField[], prefix = ''): Definition {
  const values = fields.map((field) => [field.name, valueIn(data, field, `${prefix}${field.name}`)] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

function valueIn(data: FormData, field: PolicyField, at: string): unknown {
  const isLimit = field.kind === 'list' || field.kind === 'structure';
  if (isLimit && !field.isRequired && !data.has(limitOf(at))) return undefined;
  if (field.kind === 'structure') return policyIn(data, field.members ?? [], `${at}.`);
  if (field.kind === 'list') return listIn(data, field, at);
  const text = textIn(data, at);
  if (text === '') return undefined;
  if (field.kind === 'number') return Number(text);
  return field.kind === 'flag' ? text === 'true' : text;
}

function listIn(data: FormData, { values, isExpected, isRequired }: PolicyField, at: string): unknown {
  if (values !== undefined) return data.getAll(at);
  const lines = textIn(data, at)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  // What most entries need is in view, also where this one leaves it out.
  return lines.length === 0 && isExpected && !isRequired ? undefined : lines;
}

/** The name of the box by which a list or a structure is not left out. */
export function limitOf(name: string): string {
  return `limit ${name}`;
}

export function labelsOf(form: EntryForm): Labels {
  return Object.fromEntries(
    form.flatMap(({ fields }) => fields.map((field) => [field.name, labelOf(field)])),
  );
}

/** A label has no room for code. */
export function labelOf({ label }: PolicyField): string {
  return label.replaceAll('`', '');
}

/** What holds where a field is left out. */
export function leftOutInWords({ isRequired, leftOut = 'not limited' }: PolicyField, labels: Labels): string {
  if (isRequired) return 'not possible';
  if (typeof leftOut === 'boolean') return leftOut ? 'yes' : 'no';
  const texts = [leftOut].flat().map((one) => byLabels(valueInWords(String(one)), labels));
  return texts.length === 0 ? 'none' : texts.join(', ');
}

export interface SortedProblems {
  /** By the names of fields. */
  atFields: Readonly<Record<string, string>>;
  /** About the entry as a whole. */
  others: readonly string[];
}

/** Which problem is about which field. @param names of the fields of the form */
export function sortProblems(
  problems: readonly string[],
  names: readonly string[],
  labels: Labels,
): SortedProblems {
  const atFields: Record<string, string> = {};
  const others: string[] = [];
  for (const problem of problems) {
    const [, name = '', rule = problem] = /^"?(\w+)"?(?:\[\d+\])?[^:]*: (.*)$/s.exec(problem) ?? [];
    if (names.includes(name)) atFields[name] = sentenceOf(byLabels(rule, labels));
    else others.push(byLabels(problem, labels));
  }
  return { atFields, others };
}
