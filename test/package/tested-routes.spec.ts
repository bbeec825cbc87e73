// The test of a guarded route that the guide prints, run against the route of the README, without a database.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { REPOSITORY, repositoryFile } from '../support/source-files.js';
import { preparedInstallation } from './support/packed-package.js';
import { folderBeside, programsOf, TEST_GLOBALS } from './support/programs.js';

const SPEC = 'src/orders.controller.spec.ts';
const ROUTE = 'src/orders.controller.ts';
/** The names that Jest and Vitest give to all tests. */
const RUNNER = `import { createRequire } from 'node:module';
import { afterEach, describe, it } from 'node:test';
import 'reflect-metadata';
const { expect } = createRequire('${join(REPOSITORY, 'package.json')}')('expect');
Object.assign(globalThis, { afterEach, describe, it, expect });
await import('./dist/orders.controller.spec.js');
`;

describe("the guide's test of a guarded route", () => {
  const { [SPEC]: spec = '' } = programsOf(repositoryFile('src/token-exchange/docs/guide.md').text);
  const { [ROUTE]: route = '' } = programsOf(repositoryFile('src/token-exchange/README.md').text);

  it('passes', () => {
    const files = { [SPEC]: spec, [ROUTE]: route, 'src/globals.d.ts': TEST_GLOBALS };
    const folder = folderBeside(preparedInstallation(), { ...files, 'run.mjs': RUNNER });
    const example = readFileSync(join(REPOSITORY, 'examples', 'own-product', 'tsconfig.json'), 'utf8');
    writeFileSync(join(folder, 'tsconfig.json'), example);
    const compiler = join(REPOSITORY, 'node_modules', 'typescript', 'bin', 'tsc');
    const shared = { cwd: folder, encoding: 'utf8' } as const;
    const compiled = spawnSync(process.execPath, [compiler, '-p', folder], shared);
    expect(compiled.stdout).toBe('');
    const { status, stdout } = spawnSync(process.execPath, ['run.mjs'], shared);
    expect({ status, failed: stdout.match(/^ *not ok .*$/gm) }).toEqual({ status: 0, failed: null });
  });
});
