// Jest's way in to global-setup.ts: Jest loads global files without its module map, so that in them './x.js' does
// not lead to x.ts; here the files meet by their real names.
const { spawnSync } = require('node:child_process');
const { constants } = require('node:os');
const { freePort } = require('../../demo/free-port.ts');
const { enterRunFolder, leaveRunFolder } = require('./run-folder.ts');
const { setUpChromium, setUpPostgres } = require('./global-setup.ts');

module.exports = async (run) => {
  if (spawnSync('openssl', ['version']).status !== 0)
    throw new Error(
      'The tests make certificates with openssl. Install it (Debian: apt-get install -y openssl).',
    );
  enterRunFolder();
  // Jest runs no teardown where it is interrupted. PostgreSQL ends with this process, by itself.
  process.once('exit', leaveRunFolder);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.once(signal, () => process.exit(128 + constants.signals[signal]));
  // npm would announce its newer versions among what tests read of it.
  process.env.npm_config_update_notifier = 'false';
  await setUpPostgres(run, async () => {
    const { PostgresServer, TEST_SETTINGS } = await import('../../bench/support/postgres-server.mjs');
    return PostgresServer.start(freePort, TEST_SETTINGS);
  });
  await setUpChromium(run, async () => {
    const ports = await Promise.all(Array.from({ length: run.maxWorkers }, freePort));
    return require('./browser.ts').startChromium(ports);
  });
};
