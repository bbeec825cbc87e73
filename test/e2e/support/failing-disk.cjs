// Loaded into a service before its own code: its disk fails to keep what is written while the file that a variable names is there.
// The embedded engine has a thread of its own, which by itself loads nothing beforehand.
const threads = require('node:worker_threads');
const fs = require('node:fs');
const { syncBuiltinESMExports } = require('node:module');

const { fsyncSync, existsSync } = fs;
fs.fsyncSync = (descriptor) => {
  if (existsSync(process.env.FAILING_DISK)) throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO' });
  fsyncSync(descriptor);
};
threads.Worker = class extends threads.Worker {
  constructor(file, options) {
    const { FAILING_DISK } = process.env;
    super(file, { ...options, execArgv: ['--require', __filename], env: { FAILING_DISK } });
  }
};
syncBuiltinESMExports();
