// Jest's way in to global-setup.ts: Jest loads global files without its module map, so that in them './x.js' does
// not lead to x.ts; here the files meet by their real names.
const { freePort } = require('../../demo/free-port.ts');
const { findBinaries } = require('./postgres-binaries.ts');
const { PostgresServer } = require('./postgres-server.ts');
const { enterRunFolder } = require('./run-folder.ts');
const { setUpPostgres } = require('./global-setup.ts');

module.exports = (run) => {
  enterRunFolder();
  return setUpPostgres(run, async () => PostgresServer.start(findBinaries(), freePort));
};
