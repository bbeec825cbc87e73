// Finds the PostgreSQL server programs of this machine.
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const DEBIAN_VERSIONS = '/usr/lib/postgresql';

/** The PostgreSQL server programs are not on this machine. The message says what was looked for and what helps. */
export class PostgresMissingError extends Error {
  override readonly name = 'PostgresMissingError';
}

/**
 * The folder that holds `initdb` and `postgres`: POSTGRES_BIN alone where it is set, else PATH, else Debian's newest.
 * @throws PostgresMissingError when there is none
 */
export function findBinaries(environment: NodeJS.ProcessEnv = process.env): string {
  const { POSTGRES_BIN: chosen, PATH: path = '' } = environment;
  const candidates = chosen ? [chosen] : [...path.split(delimiter).filter(Boolean), ...debianFolders()];
  const found = candidates.find((folder) =>
    ['initdb', 'postgres'].every((name) => existsSync(join(folder, name))),
  );
  if (found !== undefined) return found;
  throw new PostgresMissingError(
    `PostgreSQL server binaries were not found${chosen ? ' in POSTGRES_BIN' : ''}; ` +
      'on Debian: apt-get install -y postgresql',
  );
}

function debianFolders(): string[] {
  if (!existsSync(DEBIAN_VERSIONS)) return [];
  const versions = readdirSync(DEBIAN_VERSIONS).sort((a, b) => Number(b) - Number(a));
  return versions.map((version) => join(DEBIAN_VERSIONS, version, 'bin'));
}
