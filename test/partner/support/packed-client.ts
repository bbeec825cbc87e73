// The client as it is packed: installed in a folder beside what it asks for, and nothing else.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, renameSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { lastingFolder } from '../../support/run-folder.js';
import { REPOSITORY } from '../../support/source-files.js';

export const CLIENT = '@embedded-token-exchange/partner';

/**
 * @param others packages of the repository that the folder's programs ask for by themselves
 * @returns a folder with `client.tgz` and with `node_modules`, as npm would have made it without a network
 */
export function installedClient(others: readonly string[] = []): string {
  const folder = mkdtempSync(join(lastingFolder(), 'packed-client-'));
  const built = join(folder, 'built');
  const build = join(REPOSITORY, 'scripts', 'build-package.mjs');
  execFileSync(process.execPath, [build, built, 'packages/partner'], { stdio: ['ignore', 'ignore', 'pipe'] });
  const packed = execFileSync('npm', ['pack', built, '--json', '--offline'], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [{ filename }] = Object.values(JSON.parse(packed) as object) as [{ filename: string }];
  renameSync(join(folder, filename), join(folder, 'client.tgz'));
  const home = join(folder, 'node_modules', CLIENT);
  mkdirSync(home, { recursive: true });
  execFileSync('tar', ['-xzf', join(folder, 'client.tgz'), '--strip-components=1', '-C', home]);
  for (const name of ['jose', ...others]) {
    const place = join(folder, 'node_modules', name);
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(join(REPOSITORY, 'node_modules', name), place, 'dir');
  }
  return folder;
}

/** Copies a folder of the repository into one where the client is installed. */
export function copyInto(folder: string, path: string): void {
  cpSync(join(REPOSITORY, path), folder, { recursive: true });
}
