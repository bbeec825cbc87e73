// Knows the version of the service: that of the package.json above the sources, and above what is built of them.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** MAJOR.MINOR.PATCH, on the beta channel with a suffix such as `-beta.1`. */
export const VERSION = versionAbove(dirname(fileURLToPath(import.meta.url)));

/** Sources and build lie at different depths below the one package.json. */
function versionAbove(folder: string): string {
  try {
    const manifest = readFileSync(join(folder, 'package.json'), 'utf8');
    return (JSON.parse(manifest) as { version: string }).version;
  } catch (error) {
    const isTop = dirname(folder) === folder;
    if (isTop || (error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return versionAbove(dirname(folder));
  }
}
