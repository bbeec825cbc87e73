// Jest's way in to the end of what global-setup.ts began.
const { tearDownPostgres } = require('./global-setup.ts');

module.exports = tearDownPostgres;
