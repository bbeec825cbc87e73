const { filesOf } = require('./test/support/scopes.cjs');

const scope = process.env.TEST_SCOPE;
// Where nobody looks at a terminal, Jest's own reporter would say everything at the end.
const progress = process.stdout.isTTY ? 'default' : '<rootDir>/test/support/progress.reporter.cjs';

/** Our ES modules run as CommonJS, since Jest's runtime for the others is experimental. */
const compiled = (syntax, more) => [
  '@swc/jest',
  {
    sourceMaps: 'inline',
    module: { type: 'commonjs' },
    jsc: { target: 'es2022', parser: { syntax, decorators: true }, keepClassNames: true, ...more },
  },
];
const decorated = {
  transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
};

module.exports = {
  rootDir: __dirname,
  testEnvironment: '<rootDir>/test/support/one-realm.environment.cjs',
  runtime: '<rootDir>/test/support/shared-packages.runtime.cjs',
  testMatch: scope ? filesOf(scope).map((path) => `<rootDir>/test/${path}`) : ['<rootDir>/test/**/*.spec.ts'],
  testSequencer: '<rootDir>/test/support/sequencer.cjs',
  transform: { '\\.ts$': compiled('typescript', decorated), '\\.mjs$': compiled('ecmascript') },
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': ['$1.ts', '$1.js'] },
  globalSetup: '<rootDir>/test/support/global-setup.cjs',
  globalTeardown: '<rootDir>/test/support/global-teardown.cjs',
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/dist-package/'],
  reporters: [progress, '<rootDir>/test/support/summary.reporter.cjs'],
  // On two cores: a third of the time of a worker is spent waiting.
  maxWorkers: 3,
  workerIdleMemoryLimit: '500MB',
  // Only a test that hangs takes so long. Several waits of one test end earlier, each with the name of what it waited for.
  testTimeout: 300_000,
};
