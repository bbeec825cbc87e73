// Jest's runtime, with one copy of each package for all test files of a worker. Jest alone would load Nest, TypeORM and
// the rest anew for each file, which took a third of the CPU time of a run. Our own modules are new for each file.
const { createRequire, isBuiltin } = require('node:module');
const { default: Runtime } = require('jest-runtime');

const OF_JEST = '@jest/globals';

class SharedPackagesRuntime extends Runtime {
  requireModuleOrMock(from, name) {
    if (isPackage(name)) return createRequire(from)(name);
    return super.requireModuleOrMock(from, name);
  }
}

function isPackage(name) {
  return !/^[./#]/.test(name) && !isBuiltin(name) && name !== OF_JEST;
}

module.exports = { default: SharedPackagesRuntime, __esModule: true };
