// Hashes the inputs of a build, to detect changes.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

const sources = [
  'src',
  'demo',
  'scripts/docs',
  'pages',
  'ormconfig.ts',
  'nest-cli.json',
  'package.json',
  'package-lock.json',
];

/** Hashes names and contents but not times, so a fresh checkout of the same files needs no new build. */
export function fingerprint(root) {
  const hash = createHash('sha256');
  for (const file of inputFiles(root)) {
    hash.update(`${file}\0`).update(
      createHash('sha256')
        .update(readFileSync(join(root, file)))
        .digest(),
    );
  }
  return hash.digest('hex');
}

function inputFiles(root) {
  const settings = readdirSync(root).filter((name) => /^tsconfig.*\.json$/.test(name));
  const present = [...sources, ...settings].filter((path) => existsSync(join(root, path)));
  return present.flatMap((path) => filesUnder(root, path)).sort();
}

function filesUnder(root, path) {
  if (!statSync(join(root, path)).isDirectory()) return [path];
  return readdirSync(join(root, path)).flatMap((name) => filesUnder(root, `${path}/${name}`));
}
