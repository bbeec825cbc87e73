// Starts the run's PostgreSQL server and Chromium before the tests if they need them, and stops both afterwards.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { PostgresServer } from '../../bench/support/postgres-server.mjs';

/** Folders whose tests use databases. */
const DATABASE_TEST_FOLDERS = [
  'test/browser',
  'test/database',
  'test/e2e',
  'test/instances',
  'test/long',
  'test/package',
  'test/partner',
];

/** The used part of the configuration that Jest passes to a global set-up. */
export interface TestRun {
  rootDir: string;
  findRelatedTests: boolean;
  testPathPatterns: { toExecutor(options: { rootDir: string }): { isMatch(absolutePath: string): boolean } };
}

/** Folders whose tests open pages. */
const BROWSER_TEST_FOLDERS = ['test/browser', 'test/long', 'test/partner'];

let server: PostgresServer | undefined;
let stopChromium: (() => Promise<void>) | undefined;

/**
 * Tells the test files by the environment, which Jest passes on to its workers: TEST_POSTGRES_URL leads to the
 * server, TEST_POSTGRES_MISSING says why there is none. Neither is set when no selected file needs a server.
 * @throws Error if PostgreSQL is installed but does not start. The tests are not skipped then.
 */
export async function setUpPostgres(run: TestRun, start: () => Promise<PostgresServer>): Promise<void> {
  if (!isSelected(run, DATABASE_TEST_FOLDERS)) return;
  try {
    server = await start();
    process.env['TEST_POSTGRES_URL'] = server.url;
  } catch (error) {
    // The name is compared instead of the class: Jest loads this file without resolving '.js' to '.ts', so it imports types only.
    if (!(error instanceof Error) || error.name !== 'PostgresMissingError') throw error;
    process.env['TEST_POSTGRES_MISSING'] = error.message;
    process.stderr.write(`\nTests on PostgreSQL are skipped: ${error.message}\n`);
  }
}

/** @param start resolves to a function that stops the browsers; undefined if there is none */
export async function setUpChromium(
  run: TestRun,
  start: () => Promise<(() => Promise<void>) | undefined>,
): Promise<void> {
  if (isSelected(run, BROWSER_TEST_FOLDERS)) stopChromium = await start();
}

/** Stops what `setUpPostgres` and `setUpChromium` started and forgets it: in watch mode Jest runs both again. */
export async function tearDown(): Promise<void> {
  await stopChromium?.();
  stopChromium = undefined;
  await server?.stop();
  server = undefined;
  delete process.env['TEST_POSTGRES_URL'];
  delete process.env['TEST_POSTGRES_MISSING'];
}

/** The patterns of --findRelatedTests name sources rather than tests. */
function isSelected(
  { rootDir, findRelatedTests, testPathPatterns }: TestRun,
  folders: readonly string[],
): boolean {
  if (findRelatedTests) return true;
  const selection = testPathPatterns.toExecutor({ rootDir });
  return testFiles(rootDir, folders).some((path) => selection.isMatch(path));
}

function testFiles(rootDir: string, names: readonly string[]): string[] {
  const folders = names.map((folder) => join(rootDir, folder)).filter((folder) => existsSync(folder));
  return folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.spec.ts'))
      .map((name) => join(folder, name)),
  );
}
