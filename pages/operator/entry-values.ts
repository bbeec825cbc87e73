// Reads a trusted entry from its form, and describes the defaults of empty fields.
import type { AnswerOf } from './api.js';
import { textIn } from './form-data.js';
import { sentenceOf, valueInWords } from './words.js';

/** The form as the instance describes it: groups of fields. */
export type EntryForm = AnswerOf<'GET /overview'>['entryForm'];
export type PolicyField = EntryForm[number]['fields'][number];
export type Definition = Readonly<Record<string, unknown>>;

/**
 * Omits empty fields.
 * @param prefix of the names of a structure's fields
 */
export function policyIn(data: FormData, fields: readonly PolicyField[], prefix = ''): Definition {
  const values = fields.map((field) => [field.name, valueIn(data, field, `${prefix}${field.name}`)] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

function valueIn(data: FormData, field: PolicyField, at: string): unknown {
  const isLimit = field.kind === 'list' || field.kind === 'structure';
  if (isLimit && !field.isRequired && !data.has(limitOf(at))) return undefined;
  if (field.kind === 'structure') return policyIn(data, field.members ?? [], `${at}.`);
  if (field.kind === 'list') return field.values === undefined ? linesIn(data, at) : data.getAll(at);
  const text = textIn(data, at);
  if (text === '') return undefined;
  if (field.kind === 'number') return Number(text);
  return field.kind === 'flag' ? text === 'true' : text;
}

function linesIn(data: FormData, at: string): string[] {
  const lines = textIn(data, at).split('\n');
  return lines.map((line) => line.trim()).filter((line) => line !== '');
}

/** The name of the checkbox that adds a list or structure to the entry. */
export function limitOf(name: string): string {
  return `limit ${name}`;
}

/** Removes code marks, which a label cannot show. */
export function labelOf({ label }: PolicyField): string {
  return label.replaceAll('`', '');
}

/** The effect of an empty field. */
export function leftOutInWords({ isRequired, leftOut = 'not limited' }: PolicyField): string {
  if (isRequired) return 'not possible';
  if (typeof leftOut === 'boolean') return leftOut ? 'yes' : 'no';
  const texts = [leftOut].flat().map((one) => valueInWords(String(one)));
  return texts.length === 0 ? 'none' : texts.join(', ');
}

export interface SortedProblems {
  /** Problems by field name. */
  atFields: Readonly<Record<string, string>>;
  /** Problems of the whole entry. */
  others: readonly string[];
}

/** Assigns problems to fields by the property at their beginning. @param names the names of the form's fields */
export function sortProblems(problems: readonly string[], names: readonly string[]): SortedProblems {
  const atFields: Record<string, string> = {};
  const others: string[] = [];
  for (const problem of problems) {
    const [, path = '', rule = ''] = /^([\w.]+): (.*)$/s.exec(problem) ?? [];
    const [name = '', ...inner] = names.includes(path) ? [path] : path.split('.');
    if (!names.includes(name)) others.push(problem);
    else atFields[name] = sentenceOf(inner.length === 0 ? rule : `in ${inner.join('.')}: ${rule}`);
  }
  return { atFields, others };
}
