// Which account may open an embedded data directory.
import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { refuseForeignDirectory } from '../../../../../src/platform/database/embedded/data-directory.js';

const OWN = process.getuid?.() ?? 0;
/** To which nothing of this test belongs, and which is not root. */
const OTHER = OWN + 1_000;

const folder = (...names: string[]) => {
  const made = mkdtempSync(join(tmpdir(), 'owner-'));
  for (const name of names) mkdirSync(join(made, name));
  return made;
};

it.each<[string, () => string, number]>([
  ['its own database', () => folder('database'), OWN],
  ['its own folder', () => folder(), OWN],
  ['a folder that is not there', () => join(folder(), 'data'), OTHER],
  ['an empty volume of another account', () => folder(), OTHER],
])('[D46] an account may open %s', (_, make, account) => {
  expect(() => refuseForeignDirectory(make(), account)).not.toThrow();
});

it("[D46] an account may not open another account's database, and the error names the owner", () => {
  const directory = folder('database');
  expect(() => refuseForeignDirectory(directory, OTHER)).toThrow(
    `The data directory ${directory} belongs to account ${OWN}, which could not read what account ${OTHER} writes. ` +
      `Nothing was changed. Run this as its owner: sudo -u '#${OWN}' …`,
  );
});
