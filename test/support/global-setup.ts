// Starts the run's PostgreSQL server before the tests, where they need one, and stops it after them.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { PostgresServer } from '../../bench/support/postgres-server.mjs';

/** Folders whose tests use databases. */
const DATABASE_TEST_FOLDERS = [
  'test/browser/operator',
  'test/database',
  'test/e2e',
  'test/instances',
  'test/long',
  'test/package',
  'test/partner',
];

/** What is used of the configuration that Jest passes to a global set-up. */
export interface TestRun {
  rootDir: string;
  findRelatedTests: boolean;
  testPathPatterns: { toExecutor(options: { rootDir: string }): { isMatch(absolutePath: string): boolean } };
}

let server: PostgresServer | undefined;

/**
 * Tells the test files by the environment, which Jest passes on to its workers: TEST_POSTGRES_URL leads to the
 * server, TEST_POSTGRES_MISSING says why there is none. Neither is set when no selected file needs a server.
 * @throws Error when the machine has PostgreSQL but it does not start: that is no reason to skip tests
 */
export async function setUpPostgres(run: TestRun, start: () => Promise<PostgresServer>): Promise<void> {
  if (!needsDatabases(run)) return;
  try {
    server = await start();
    process.env['TEST_POSTGRES_URL'] = server.url;
  } catch (error) {
    // By name, not by class: Jest loads this file without resolving '.js' to '.ts', so it imports types only.
    if (!(error instanceof Error) || error.name !== 'PostgresMissingError') throw error;
    process.env['TEST_POSTGRES_MISSING'] = error.message;
    process.stderr.write(`\nTests on PostgreSQL are skipped: ${error.message}\n`);
  }
}

/** Stops what `setUpPostgres` started and forgets it: in watch mode Jest runs both again. */
export async function tearDownPostgres(): Promise<void> {
  await server?.stop();
  server = undefined;
  delete process.env['TEST_POSTGRES_URL'];
  delete process.env['TEST_POSTGRES_MISSING'];
}

/** With --findRelatedTests the patterns name sources, not tests. */
function needsDatabases({ rootDir, findRelatedTests, testPathPatterns }: TestRun): boolean {
  if (findRelatedTests) return true;
  const selection = testPathPatterns.toExecutor({ rootDir });
  return databaseTestFiles(rootDir).some((path) => selection.isMatch(path));
}

function databaseTestFiles(rootDir: string): string[] {
  const folders = DATABASE_TEST_FOLDERS.map((folder) => join(rootDir, folder)).filter((folder) =>
    existsSync(folder),
  );
  return folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.spec.ts'))
      .map((name) => join(folder, name)),
  );
}
