// Which test files `npm test` runs (scope `main`), and which `npm run test:all` adds to them (scope `rest`).
const { readFileSync, readdirSync } = require('node:fs');
const { join } = require('node:path');

/** Several processes, hosts of the package, partners' programs, long series. */
const REST_FOLDERS = ['instances', 'long', 'package', 'partner'];

/** Of those folders, what `npm test` runs all the same: the main case, if it is quick. */
const MAIN_CASES = ['instances/revocation.spec.ts', 'partner/client.spec.ts'];

/** Files that wait for real time or measure it, need another program, or send a whole table through services. Other files show their rules. */
const REST_FILES = [
  'architecture/release-pack.spec.ts',
  'browser/causes.spec.ts',
  'browser/demo-page.spec.ts',
  'browser/element-ends.spec.ts',
  'browser/frame-outages.spec.ts',
  'browser/login-events.spec.ts',
  'browser/operator/clients.spec.ts',
  'browser/operator/mistakes.spec.ts',
  'browser/operator/page-states.spec.ts',
  'browser/operator/pages.spec.ts',
  'browser/page-states.spec.ts',
  'browser/places.spec.ts',
  'browser/provider-logout.spec.ts',
  'browser/real-stops.spec.ts',
  'browser/reference.spec.ts',
  'browser/session.spec.ts',
  'browser/strangers.spec.ts',
  'browser/two-users.spec.ts',
  'browser/workflow-list.spec.ts',
  'database/jwks-instances.spec.ts',
  'database/leader.spec.ts',
  'e2e/api-both.spec.ts',
  'e2e/commands-beside.spec.ts',
  'e2e/commands-process.spec.ts',
  'e2e/database-away.spec.ts',
  'e2e/disk-faults.spec.ts',
  'e2e/first-start.spec.ts',
  'e2e/graceful-stop.spec.ts',
  'e2e/log-at-stop.spec.ts',
  'e2e/printed-commands.spec.ts',
  'browser/readme.spec.ts',
  'e2e/workflow-lists.spec.ts',
  'fuzz/growth.spec.ts',
];

/** The paths of a scope's files below test/, with `/` between the names. */
function filesOf(scope) {
  const test = join(__dirname, '..');
  const files = readdirSync(test, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.spec.ts'));
  if (scope === 'main') return files.filter((path) => !isRest(path));
  // In the rest, blocks for each database have their turn on the embedded one, and tables are whole.
  const hasSecondTurn = (path) =>
    /\b(describeOnEachDatabase|describeOutsideMain|isMainScope)\b/.test(
      readFileSync(join(test, path), 'utf8'),
    );
  return files.filter((path) => isRest(path) || hasSecondTurn(path));
}

function isRest(path) {
  const isInFolder = REST_FOLDERS.includes(path.split('/')[0]) && !MAIN_CASES.includes(path);
  return isInFolder || REST_FILES.includes(path);
}

module.exports = { filesOf };
