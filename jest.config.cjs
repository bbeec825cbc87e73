/** Jest runs our ES modules as CommonJS: see test/support/jest-transform.cjs. */
module.exports = {
  rootDir: __dirname,
  testEnvironment: 'node',
  testMatch: ['<rootDir>/test/**/*.spec.ts'],
  transform: { '\\.(ts|mjs|cjs|js)$': '<rootDir>/test/support/jest-transform.cjs' },
  transformIgnorePatterns: [],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': ['$1.ts', '$1.js'] },
  globalSetup: '<rootDir>/test/support/global-setup.cjs',
  globalTeardown: '<rootDir>/test/support/global-teardown.cjs',
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/dist-package/'],
  reporters: ['default', '<rootDir>/test/support/summary.reporter.cjs'],
  maxWorkers: 2,
  testTimeout: 30000,
};
