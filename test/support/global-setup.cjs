// Jest's way in to global-setup.ts: Jest loads global files without its module map, so that in them './x.js' does
// not lead to x.ts; here the files meet by their real names.
const { freePort } = require('../../demo/free-port.ts');
const { enterRunFolder } = require('./run-folder.ts');
const { setUpPostgres } = require('./global-setup.ts');

module.exports = (run) => {
  enterRunFolder();
  return setUpPostgres(run, async () => {
    const { PostgresServer, TEST_SETTINGS } = await import('../../bench/support/postgres-server.mjs');
    return PostgresServer.start(freePort, TEST_SETTINGS);
  });
};
