// The environment of a test file, without a realm of its own. Packages are shared by all files (shared-packages.runtime.cjs),
// and what they make has to be an Array, an Error or a Uint8Array for the tests too.
const vm = require('node:vm');
const { ModernFakeTimers } = require('@jest/fake-timers');
const { ModuleMocker } = require('jest-mock');

/** What decorators of our modules left with packages, and what Jest keeps of one test file. */
const OF_ONE_FILE = [
  'typeormMetadataArgsStorage',
  'classValidatorMetadataStorage',
  'EVENT_HANDLERS',
  'JEST_STATE_SYMBOL',
  'TEST_TIMEOUT_SYMBOL',
];

/** Below this a module compiles faster than its compiled form is found. */
const SMALLEST_CHARACTERS = 2000;

class OneRealmEnvironment {
  global = globalThis;
  moduleMocker = new ModuleMocker(globalThis);
  fakeTimers = null;

  constructor({ projectConfig }) {
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
    this.environmentVariables = { ...process.env };
    this.exit = process.exit;
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  /** Jest compiles modules only where there is one; compileOnce does without. */
  getVmContext() {
    return {};
  }

  async setup() {}

  /** Jest's own output has colours by now where the run is on a terminal; that of programs that tests start has none. */
  handleTestEvent({ name }) {
    if (name === 'setup') delete process.env.FORCE_COLOR;
  }

  /** Takes back what a test file changed for all. */
  async teardown() {
    this.fakeTimersModern.dispose();
    process.exit = this.exit;
    for (const name of Object.keys(process.env))
      if (!(name in this.environmentVariables)) delete process.env[name];
    Object.assign(process.env, this.environmentVariables);
    for (const key of Reflect.ownKeys(globalThis))
      if (OF_ONE_FILE.includes(key.description ?? key)) delete globalThis[key];
  }
}

/** V8's own code cache: compiles a module once for all test files. It is bound to the text, so what has changed is compiled again. */
function compileOnce(compileFunction) {
  const compiled = new Map();
  return (text, parameters, given) => {
    const options = { ...given, parsingContext: undefined };
    if (text.length < SMALLEST_CHARACTERS) return compileFunction(text, parameters, options);
    const cachedData = compiled.get(text);
    const produceCachedData = cachedData === undefined;
    const compiledFunction = compileFunction(text, parameters, { ...options, cachedData, produceCachedData });
    if (produceCachedData) compiled.set(text, compiledFunction.cachedData);
    return compiledFunction;
  };
}

vm.compileFunction = compileOnce(vm.compileFunction);
// Where the run is killed its workers would finish their files first. (A listener to `disconnect` would keep them from ending.)
const run = process.ppid;
setInterval(() => process.ppid === run || process.exit(1), 500).unref();

module.exports = OneRealmEnvironment;
