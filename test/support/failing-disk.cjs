// Loaded into a service before its own code: its disk fails to keep what is written while the file that a variable names is there.
const fs = require('node:fs');
const { syncBuiltinESMExports } = require('node:module');

const { fsyncSync, existsSync } = fs;
fs.fsyncSync = (descriptor) => {
  if (existsSync(process.env.FAILING_DISK)) throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO' });
  fsyncSync(descriptor);
};
syncBuiltinESMExports();
