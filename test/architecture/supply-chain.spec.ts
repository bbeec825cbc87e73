// The SBOM, which npm makes of this repository's lock file.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { REPOSITORY, repositoryFile } from '../support/source-files.js';
import { machineTraces } from './support/forbidden.js';

interface LockedPackage {
  readonly version: string;
  readonly integrity: string;
  readonly dev?: boolean;
  /** Missing where a package of long ago says it in another way. */
  readonly license?: string;
}

interface Component {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly hashes: readonly { readonly alg: string; readonly content: string }[];
  readonly licenses: readonly object[];
}

interface Sbom {
  readonly bomFormat: string;
  readonly specVersion: string;
  readonly serialNumber: string;
  readonly metadata: { readonly component: Partial<Component> };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

const PATIENCE_MS = 90_000;
const lock = JSON.parse(repositoryFile('package-lock.json').text) as {
  packages: Record<string, LockedPackage>;
};
const script = (name: string) => join(REPOSITORY, 'scripts', name);
const installed = Object.entries(lock.packages).filter(([place, { dev }]) => place !== '' && dev !== true);
/** Name and version; the same package may lie in several places. */
const nameOf = (place: string) => place.replace(/^.*node_modules\//, '');

describe('npm run sbom', () => {
  let folder: string;
  let text: string;
  let sbom: Sbom;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'sbom-'));
    const output = join(folder, 'sbom.cdx.json');
    const run = spawnSync(process.execPath, [script('sbom.mjs'), '--output', output], { encoding: 'utf8' });
    expect([run.status, run.stdout]).toEqual([0, expect.stringMatching(/: \d{2,} packages\n$/)]);
    text = readFileSync(output, 'utf8');
    sbom = JSON.parse(text) as Sbom;
  }, PATIENCE_MS);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('is CycloneDX, of this package', () => {
    const { version } = JSON.parse(repositoryFile('package.json').text) as { version: string };
    expect(sbom).toMatchObject({ bomFormat: 'CycloneDX', specVersion: expect.stringMatching(/^1\.\d$/) });
    expect(sbom.serialNumber).toMatch(/^urn:uuid:[\da-f-]{36}$/);
    expect(sbom.metadata.component).toMatchObject({ name: 'embedded-token-exchange', version });
  });

  it('has each package that is installed with the service, with the version and the checksum of the lock file', () => {
    const listed = sbom.components.map(({ purl, version, hashes }) => [
      decodeURIComponent(purl),
      version,
      ...hashes.map(({ alg, content }) => `${alg} ${Buffer.from(content, 'hex').toString('base64')}`),
    ]);
    const expected = installed.map(([place, { version, integrity }]) => [
      `pkg:npm/${nameOf(place)}@${version}`,
      version,
      integrity.replace('sha512-', 'SHA-512 '),
    ]);
    const unique = [...new Map(expected.map((row) => [row[0], row])).values()];
    expect(unique.length).toBeGreaterThan(50);
    expect([...listed].sort()).toEqual([...unique].sort());
  });

  it('says of each its licence, and what it depends on', () => {
    const named = installed.filter(([, { license }]) => license !== undefined);
    const licensed = sbom.components.filter(({ licenses = [] }) => licenses.length > 0);
    expect(new Set(licensed.map(({ name, version }) => `${name}@${version}`))).toEqual(
      new Set(named.map(([place, { version }]) => `${nameOf(place)}@${version}`)),
    );
    const known = new Set([...sbom.components, sbom.metadata.component].map((one) => one['bom-ref']));
    const referred = sbom.dependencies.flatMap(({ ref, dependsOn }) => [ref, ...dependsOn]);
    expect(referred.filter((reference) => !known.has(reference))).toEqual([]);
    const direct = sbom.dependencies.find(({ ref }) => ref === sbom.metadata.component['bom-ref']);
    const { dependencies } = JSON.parse(repositoryFile('package.json').text) as { dependencies: object };
    expect(direct?.dependsOn).toEqual(
      expect.arrayContaining(Object.entries(dependencies).map(([name, version]) => `${name}@${version}`)),
    );
  });

  it('names neither a path of this machine nor a registry', () => {
    expect(machineTraces({ path: 'sbom.cdx.json', text })).toEqual([]);
    expect(text).not.toContain(REPOSITORY);
    expect([...text.matchAll(/https?:\/\/[^/"]+/g)].map(([host]) => host)).toEqual(['http://cyclonedx.org']);
  });
});
