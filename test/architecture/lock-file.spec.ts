// Checks that package-lock.json installs the same packages from any registry and on every platform.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface LockedPackage {
  version?: string;
  resolved?: string;
  integrity?: string;
  optional?: boolean;
  optionalDependencies?: Record<string, string>;
  os?: string[];
  cpu?: string[];
}

const root = join(__dirname, '..', '..');
const lock = readLock('package-lock.json');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<
  string,
  Record<string, string>
>;
const optionalDependencies = Object.entries(lock.packages).flatMap(
  ([parent, { optionalDependencies = {} }]) =>
    Object.entries(optionalDependencies).map(([name, range]) => ({ parent, name, range })),
);

function readLock(path: string): { packages: Record<string, LockedPackage> } {
  return JSON.parse(readFileSync(join(root, path), 'utf8')) as { packages: Record<string, LockedPackage> };
}

/** Resolves a package like Node.js: first in the parent's `node_modules`, then in each folder above. */
function lockedFor(parent: string, name: string): LockedPackage | undefined {
  const beside = lock.packages[join(parent, 'node_modules', name)];
  if (beside !== undefined || parent === '') return beside;
  return lockedFor(parent.slice(0, Math.max(0, parent.lastIndexOf('/node_modules/'))), name);
}

describe.each(['package-lock.json', 'bench/package-lock.json'])('%s', (path) => {
  const { packages } = readLock(path);
  const installed = Object.entries(packages).filter(([place]) => place !== '');

  it('names no registry', () => {
    expect(installed.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
    const withoutFunding = JSON.stringify(packages, (key, value: unknown) =>
      key === 'funding' ? undefined : value,
    );
    expect(withoutFunding).not.toMatch(/https?:/);
  });

  it('has a checksum for each package, so that no registry can substitute one', () => {
    const unchecked = installed.filter(([, { integrity = '' }]) => !/^sha512-[\w+/]{86}==$/.test(integrity));
    expect(installed.length).toBeGreaterThan(0);
    expect(unchecked.map(([place]) => place)).toEqual([]);
  });
});

describe('package-lock.json', () => {
  it('lists every optional dependency, in the exact version if one is required', () => {
    const isLocked = ({ parent, name, range }: (typeof optionalDependencies)[number]) => {
      const locked = lockedFor(parent, name);
      return locked !== undefined && (!/^\d/.test(range) || locked.version === range);
    };
    expect(optionalDependencies.length).toBeGreaterThan(0);
    expect(optionalDependencies.filter((each) => !isLocked(each)).map(({ name }) => name)).toEqual([]);
  });

  it('marks each prebuilt package as optional, with its platform', () => {
    const prebuilt = optionalDependencies.filter(({ name }) => /-(darwin|linux|win32)-/.test(name));
    const incomplete = prebuilt.filter(({ parent, name }) => {
      const entry = lockedFor(parent, name);
      return entry?.optional !== true || entry.os?.length !== 1 || entry.cpu?.length !== 1;
    });
    expect(prebuilt.length).toBeGreaterThan(0);
    expect(incomplete.map(({ name }) => name)).toEqual([]);
  });
});

describe('package.json', () => {
  it.each(['dependencies', 'devDependencies', 'overrides'])('pins exact versions in %s', (section) => {
    const pinned = Object.entries(manifest[section] ?? {});
    expect(pinned.length).toBeGreaterThan(0);
    expect(pinned.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]);
  });
});
