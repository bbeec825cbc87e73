// The version of the service, from the package.json above the sources or the build.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** MAJOR.MINOR.PATCH; with a suffix such as `-beta.1` on the beta channel. */
export const VERSION = versionAbove(dirname(fileURLToPath(import.meta.url)));

/** Finds the package.json, which is at different depths above sources and build. */
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
