// The SBOM and the report of known vulnerabilities, made by npm itself of this repository's lock file.
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
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

describe('npm run audit:report', () => {
  /** Runs the report against a registry that answers so. */
  async function reportWith(answer: RequestListener): Promise<string> {
    const registry = createServer(answer).listen(0, '127.0.0.1');
    await once(registry, 'listening');
    const address = `http://127.0.0.1:${(registry.address() as AddressInfo).port}`;
    const folder = mkdtempSync(join(tmpdir(), 'audit-'));
    const environment = { npm_config_registry: address, npm_config_cache: folder, npm_config_audit: 'true' };
    const options = { env: { ...process.env, ...environment } };
    const { stdout, stderr } = await promisify(execFile)(
      process.execPath,
      [script('audit-report.mjs')],
      options,
    );
    registry.close();
    registry.closeAllConnections();
    rmSync(folder, { recursive: true, force: true });
    expect(stdout + stderr).not.toContain(address);
    return stdout;
  }

  const advisory = (range: string) => [
    {
      id: 1,
      url: 'https://advisories.example/1',
      title: 'A hole',
      severity: 'high',
      vulnerable_versions: range,
    },
  ];
  /** A registry that knows of these packages, and of all their versions that ours is one. */
  const registryWith =
    (advisories: Record<string, object>): RequestListener =>
    ({ method, url = '' }, response) => {
      const name = decodeURIComponent(url.slice(1));
      const version = lock.packages[`node_modules/${name}`]?.version ?? '1.0.0';
      const packument = {
        name,
        'dist-tags': { latest: version },
        versions: { [version]: { name, version } },
      };
      response.end(JSON.stringify(method === 'POST' ? advisories : packument));
    };

  it(
    'lists each package that has some, and whether the service is installed with it',
    async () => {
      const report = await reportWith(registryWith({ fastify: advisory('*'), prettier: advisory('*') }));
      expect(report).toMatch(
        /^Known vulnerabilities: \d+ packages, [1-9]\d* of them installed with the service\n/,
      );
      expect(report).toMatch(/^ {2}fastify .*high, installed with the service: .*A hole \(https:.*\/1\)/m);
      expect(report).toMatch(/^ {2}prettier .*high, development only: A hole/m);
    },
    PATIENCE_MS,
  );

  it(
    'says that there is none',
    async () => {
      expect(await reportWith(registryWith({}))).toBe('Known vulnerabilities: none in any locked package\n');
    },
    PATIENCE_MS,
  );

  it.each<[string, RequestListener]>([
    ['has no advisories', (_, response) => response.writeHead(405).end()],
    ['answers nonsense', (_, response) => response.end('<html>')],
    ['breaks off', (request) => request.socket.destroy()],
  ])(
    'says that nobody could be asked where the registry %s, and is no failure',
    async (_, answer) => {
      expect(await reportWith(answer)).toMatch(/^Known vulnerabilities: not asked, /);
    },
    PATIENCE_MS,
  );
});
