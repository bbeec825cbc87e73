// The format of the variable with the transmitters of security events: JSON, with the secret of each in a file of its own.
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { read } from '../platform/input/problems.js';
import { JsonError, explainJsonError, isJsonObject, parseStrictJson } from '../platform/json/strict-json.js';
import type { Transmitter } from '../token-exchange/instance.js';
import { TRANSMITTERS } from '../token-exchange/instance.js';

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
      const { code = 'unknown fault' } = error as NodeJS.ErrnoException;
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
