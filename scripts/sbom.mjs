#!/usr/bin/env node
// Writes what is installed with the service as a CycloneDX SBOM: every locked package with version, licence and checksum.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const LARGEST_SBOM_BYTES = 64 * 1024 * 1024;
const { values } = parseArgs({
  options: { output: { type: 'string', default: join(root, 'dist', 'sbom.cdx.json') } },
});
const output = resolve(values.output);

const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
const sbom = ofService(sbomOfAll());
mkdirSync(dirname(output), { recursive: true });
writeFileSync(output, `${JSON.stringify(sbom, null, 2)}\n`);
process.stdout.write(`${values.output}: ${sbom.components.length} packages\n`);

/** Of the lock file alone: neither node_modules nor a registry is asked. */
function sbomOfAll() {
  const args = ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application', '--package-lock-only'];
  const surroundings = { cwd: root, encoding: 'utf8', maxBuffer: LARGEST_SBOM_BYTES };
  const shell = process.platform === 'win32';
  return JSON.parse(
    execFileSync('npm', args, { ...surroundings, shell, stdio: ['ignore', 'pipe', 'inherit'] }),
  );
}

/** `--omit=dev` of npm 11 also leaves out what development needs as well as the service, more than half of it; the lock file knows better. */
function ofService({ metadata, components, dependencies, ...sbom }) {
  const { name, version } = packages[''];
  const installed = new Set(
    Object.entries(packages).flatMap(([place, { dev, version }]) =>
      place === '' || dev === true ? [] : [`${nameIn(place)}@${version}`],
    ),
  );
  const isKept = (reference) => installed.has(reference) || reference === `${name}@${version}`;
  return {
    ...sbom,
    // npm calls it by the folder that it lies in.
    metadata: { ...metadata, component: { ...metadata.component, name } },
    components: components.filter((component) => installed.has(component['bom-ref'])),
    dependencies: dependencies
      .filter(({ ref }) => isKept(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter(isKept) })),
  };
}

function nameIn(place) {
  return place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);
}
