// The list in docs/reference/settings.md, from the environment variables, and the package's table, from its settings.
import { z } from 'zod';
import { ENVIRONMENT_VARIABLES } from '../../src/config/environment.js';
import type { EnvironmentVariable } from '../../src/config/variable.js';
import { defaultOf, innerOf, rangeOf } from '../../src/config/variable.js';
import { ROUTES, SETTINGS } from '../../src/token-exchange/settings/settings.js';
import { list, table } from './blocks.js';

export const VARIABLE_LIST = {
  settings: () =>
    list(
      ENVIRONMENT_VARIABLES.map((variable) => {
        const about = [codeOf(defaultOf(variable)), settingRange(variable)].filter((each) => each !== '');
        const brackets = about.length === 0 ? '' : ` (${about.join('; ')})`;
        return [`\`${variable.name}\`${brackets}`, variable.schema.description ?? ''];
      }),
    ),
};

export const PACKAGE_SETTINGS = {
  settings: () =>
    table(['Setting', 'Meaning', 'Default', 'Range'], [...settingRows(SETTINGS), ...settingRows(ROUTES)]),
};

function settingRows({ shape }: z.ZodObject, path = ''): string[][] {
  return Object.entries(shape).flatMap(([name, value]) => {
    const schema = value as z.ZodType;
    const { description, otherwise, range } = schema.meta() ?? {};
    const inner = innerOf(schema);
    if (description === undefined)
      return inner instanceof z.ZodObject ? settingRows(inner, `${path}${name}.`) : [];
    const words = { name, schema, range: range as string | undefined };
    return [
      [
        `\`${path}${name}\``,
        description,
        (otherwise as string) ?? codeOf(defaultOf(words)),
        settingRange(words),
      ],
    ];
  });
}

/** The range of a setting, such as `1–500`; empty for booleans. */
function settingRange(words: EnvironmentVariable): string {
  if (innerOf(words.schema) instanceof z.ZodBoolean) return '';
  return (rangeOf(words) ?? '').replace(/^(\d+) to (\d+)$/, '$1–$2');
}

function codeOf(value: string | undefined): string {
  return value === undefined ? '' : `\`${value}\``;
}
