// Jest's way in to the end of what global-setup.cjs began.
const { tearDown } = require('./global-setup.ts');
const { leaveRunFolder } = require('./run-folder.ts');

module.exports = async () => {
  await tearDown();
  leaveRunFolder();
};
