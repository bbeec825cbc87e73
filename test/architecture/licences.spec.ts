// Checks that all that is installed with the service has a licence under which it may be passed on, and that readers are told which.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { REPOSITORY, repositoryFile } from '../support/source-files.js';

/** Names of SPDX. Each only asks that its text and the names of the authors are kept. */
const PERMISSIVE = [
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'ISC',
  'MIT',
  'Python-2.0',
];

interface LockedPackage {
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly license?: string;
}

interface LicensedPackage {
  readonly place: string;
  readonly licence: string | undefined;
}

interface Manifest {
  readonly license?: string;
  /** As packages of long ago say it. */
  readonly licenses?: readonly { readonly type: string }[];
}

/** What the package itself says; an optional one of another platform is not here, so the lock has to speak for it. */
function licenceOf(place: string, { optional, license }: LockedPackage): string | undefined {
  const manifest = join(REPOSITORY, place, 'package.json');
  if (optional === true && !existsSync(manifest)) return license;
  const { license: name, licenses = [] } = JSON.parse(readFileSync(manifest, 'utf8')) as Manifest;
  return name ?? (licenses.length === 1 ? licenses[0]?.type : undefined);
}

/** A combination of licences, and one without a name, is for a person to check. */
function refused(packages: readonly LicensedPackage[]): LicensedPackage[] {
  return packages.filter(({ licence }) => licence === undefined || !PERMISSIVE.includes(licence));
}

describe('the packages of the service', () => {
  const { packages } = JSON.parse(repositoryFile('package-lock.json').text) as {
    packages: Record<string, LockedPackage>;
  };
  const installed = Object.entries(packages)
    .filter(([place, { dev }]) => place !== '' && dev !== true)
    .map(([place, locked]) => ({ place, licence: licenceOf(place, locked) }));

  it('are found, without development-only ones', () => {
    const places = installed.map(({ place }) => place);
    expect(places).toEqual(expect.arrayContaining(['node_modules/fastify', 'node_modules/pg-protocol']));
    expect(places).not.toContain('node_modules/jest');
  });

  it('have permissive licences', () => {
    expect(refused(installed)).toEqual([]);
  });

  it('have the licences in CONTRIBUTING.md', () => {
    const [, sentence = ''] =
      /^Licences of what is installed with the service: (.+)\.$/m.exec(
        repositoryFile('CONTRIBUTING.md').text,
      ) ?? [];
    const present = new Set(installed.map(({ licence }) => licence));
    expect(sentence.split(', ')).toEqual([...present].sort());
  });
});
