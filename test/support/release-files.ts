// The packages of a release that is being tried: `npm run release:pack` names their folder. Other runs pack for themselves.
import { resolve } from 'node:path';
import { VERSION } from '../../src/platform/version.js';

/** @param name the suffix after `embedded-token-exchange-`; empty for the service. @returns undefined if no release is tested */
export function releaseFile(name = ''): string | undefined {
  const folder = process.env['RELEASE_FILES'];
  return folder === undefined ? undefined : resolve(folder, tarballName(name));
}

/** The name that `npm pack` uses. */
export function tarballName(name = ''): string {
  return `${['embedded-token-exchange', name, VERSION].filter(Boolean).join('-')}.tgz`;
}
