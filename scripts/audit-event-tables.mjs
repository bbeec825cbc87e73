#!/usr/bin/env node
// Writes the tables of docs/audit-events.md: each event of the schema, with the members of its payload.
// To be run after a change of docs/audit-events.schema.json; a test says so where it was forgotten. `--print` writes to the terminal.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const docs = join(dirname(dirname(fileURLToPath(import.meta.url))), 'docs');
const page = join(docs, 'audit-events.md');
/** What is above it is written by hand. */
const BEGIN = '## Every event\n';
const HEADING = '| Member | Type | |\n|---|---|---|';

const schema = JSON.parse(readFileSync(join(docs, 'audit-events.schema.json'), 'utf8'));
const [byHand] = readFileSync(page, 'utf8').split(BEGIN);
const whole = `${byHand}${BEGIN}\n${sections().join('\n\n')}\n`;
if (process.argv.includes('--print')) process.stdout.write(whole);
else writeFileSync(page, whole);

function sections() {
  const names = schema.properties.event.enum;
  const common = ['### Members of all', tableOf(schema)];
  const stored = ['### A stored entry', tableOf(schema.$defs.storedEntry)];
  return [...common, ...names.flatMap(sectionOf), ...stored];
}

function sectionOf(name) {
  const event = schema.$defs[name];
  return [`### \`${name}\``, event.description, tableOf(event)];
}

function tableOf({ properties, required }) {
  const rows = Object.entries(properties).map(([name, member]) => {
    const isOptional = required.includes(name) ? '' : ', may be missing';
    return `| \`${name}\` | ${typeOf(member)}${isOptional} | ${member.description} |`;
  });
  return [HEADING, ...rows].join('\n');
}

function typeOf({ type, enum: words, format, items, additionalProperties, $ref }) {
  if ($ref !== undefined) return '[stored entry](#a-stored-entry)';
  if (words !== undefined && words.length < 10) return words.map((word) => `\`${word}\``).join(', ');
  if (type === 'array') return `list of ${itemsOf(items)}`;
  if (type === 'object' && additionalProperties !== undefined) return 'object of strings';
  const name = Array.isArray(type) ? type.join(' or ') : type;
  return format === undefined ? name : `${name} (${format})`;
}

function itemsOf(items) {
  if (items.properties === undefined) return typeOf(items);
  return `objects with ${Object.keys(items.properties)
    .map((name) => `\`${name}\``)
    .join(', ')}`;
}
