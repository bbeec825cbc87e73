// Finds the optional packages that a lock file names but does not list, and makes their entries.
import { platformOf } from './platform-name.mjs';

const EXACT_VERSION = /^\d+\.\d+\.\d+(-[\w.-]+)?$/;

/** Completes the lock in place, its packages sorted as npm sorts them, and answers the paths that are new. */
export function addMissingOptionalPackages(lock) {
  const packages = { ...lock.packages };
  const added = [];
  for (const [parentPath, parent] of Object.entries(lock.packages)) {
    for (const [name, version] of Object.entries(parent.optionalDependencies ?? {})) {
      if (isListed(packages, parentPath, name, version)) continue;
      const path = freePath(packages, parentPath, name);
      packages[path] = entryFor(lock.packages, parentPath, name, version);
      added.push(path);
    }
  }
  const sorted = Object.entries(packages).sort(([a], [b]) => a.localeCompare(b, 'en'));
  lock.packages = Object.fromEntries(sorted);
  return added;
}

/** Looks where Node.js would: beside the parent, then in each folder above it. Of a range npm has checked already. */
function isListed(packages, parentPath, name, version) {
  const found = foldersAbove(parentPath).find((folder) => packages[`${folder}node_modules/${name}`]);
  if (found === undefined) return false;
  return !EXACT_VERSION.test(version) || packages[`${found}node_modules/${name}`].version === version;
}

/** For `node_modules/a/node_modules/b`: that, `node_modules/a` and the root, each with a slash to append to. */
function foldersAbove(path) {
  if (path === '') return [''];
  const above = path.slice(0, path.lastIndexOf('node_modules/'));
  return [`${path}/`, ...foldersAbove(above.replace(/\/$/, ''))];
}

function freePath(packages, parentPath, name) {
  const top = `node_modules/${name}`;
  return packages[top] ? `${parentPath}/${top}` : top;
}

/** In npm's order of members. Packages for several platforms share the licence and the engines. */
function entryFor(packages, parentPath, name, version) {
  const platform = platformOf(name);
  if (!EXACT_VERSION.test(version) || platform === undefined) {
    throw new Error(
      `${name}@${version} of ${parentPath} is not in the lock, and its name does not tell its platform.`,
    );
  }
  const { dev, devOptional, optionalDependencies } = packages[parentPath];
  const sibling = siblingOf(packages, Object.keys(optionalDependencies));
  const { cpu, os, libc } = platform;
  const { license, engines } = sibling;
  return { version, cpu, dev, devOptional, libc, license, optional: true, os, engines };
}

function siblingOf(packages, names) {
  const listed = names.find((name) => platformOf(name) && packages[`node_modules/${name}`]);
  return listed === undefined ? {} : packages[`node_modules/${listed}`];
}
