// The packed client, installed in a folder with its dependencies and nothing else.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, renameSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { releaseFile, tarballName } from '../../support/release-files.js';
import { lastingFolder } from '../../support/run-folder.js';
import { REPOSITORY } from '../../support/source-files.js';

export const CLIENT = '@embedded-token-exchange/partner';

/**
 * @param others packages of the repository that the folder's programs ask for by themselves
 * @returns a folder with `client.tgz` and with `node_modules`, as npm would have made it; of a release, as it has made it
 */
export function installedClient(others: readonly string[] = []): string {
  const folder = mkdtempSync(join(lastingFolder(), 'packed-client-'));
  const released = releaseFile('partner');
  if (released === undefined) unpack(folder);
  else {
    cpSync(released, join(folder, 'client.tgz'));
    execFileSync('npm', ['install', '--prefix', folder, './client.tgz'], { cwd: folder, stdio: 'ignore' });
  }
  for (const name of [...(released === undefined ? ['jose'] : []), ...others]) {
    const place = join(folder, 'node_modules', name);
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(join(REPOSITORY, 'node_modules', name), place, 'dir');
  }
  return folder;
}

function unpack(folder: string): void {
  const built = join(folder, 'built');
  const build = join(REPOSITORY, 'scripts', 'build-package.mjs');
  execFileSync(process.execPath, [build, built, 'packages/partner'], { stdio: ['ignore', 'ignore', 'pipe'] });
  execFileSync('npm', ['pack', built, '--offline'], { cwd: folder, stdio: 'ignore' });
  renameSync(join(folder, tarballName('partner')), join(folder, 'client.tgz'));
  const home = join(folder, 'node_modules', CLIENT);
  mkdirSync(home, { recursive: true });
  execFileSync('tar', ['-xzf', join(folder, 'client.tgz'), '--strip-components=1', '-C', home]);
}

/** Copies a folder of the repository into one where the client is installed. */
export function copyInto(folder: string, path: string): void {
  cpSync(join(REPOSITORY, path), folder, { recursive: true });
}
