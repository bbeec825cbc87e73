// The table of docs/configuration.md, from the table of variables, and that of the README of the package, from its settings.
import { ENVIRONMENT_VARIABLES } from '../../src/config/environment.js';
import type { Members, SettingRow } from '../../src/token-exchange/settings/settings.js';
import { ROUTES, SETTINGS, isRow } from '../../src/token-exchange/settings/settings.js';
import { table } from './blocks.js';

export const VARIABLE_TABLE = {
  settings: () =>
    table(
      ['Variable', 'Meaning', 'Default', 'Range'],
      ENVIRONMENT_VARIABLES.map(({ name, description, default: standard, range }) => [
        `\`${name}\``,
        description,
        standard === undefined ? '' : `\`${standard}\``,
        range ?? '',
      ]),
    ),
};

export const PACKAGE_SETTINGS = {
  settings: () =>
    table(['Setting', 'Meaning', 'Default', 'Range'], [...settingRows(SETTINGS), ...settingRows(ROUTES)]),
};

function settingRows(members: Members, path = ''): string[][] {
  return Object.entries(members).flatMap(([name, member]) => {
    if (member === true) return [];
    if (!isRow(member)) return settingRows(member, `${path}${name}.`);
    return [[`\`${path}${name}\``, member.description, defaultOf(member), rangeOf(member)]];
  });
}

function defaultOf({ default: standard, otherwise }: SettingRow): string {
  return otherwise ?? (standard === undefined ? '' : `\`${String(standard)}\``);
}

function rangeOf({ range, min, max }: SettingRow): string {
  return range ?? (min === undefined ? '' : `${min} to ${max}`);
}
