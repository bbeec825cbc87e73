// The environment of a test file: Node.js, with the compiled form of each module kept from one file of a worker to the next.
const vm = require('node:vm');
const { TestEnvironment } = require('jest-environment-node');

/** Below this a module compiles faster than its compiled form is found. */
const SMALLEST_CHARACTERS = 2000;

/**
 * Jest compiles each module anew for each test file: for one that starts the service, that is a third of its CPU time.
 * V8's own code cache saves that; it is bound to the text, so what has changed is compiled again.
 */
function compileOnce(compileFunction) {
  const compiled = new Map();
  return (text, parameters, options) => {
    if (text.length < SMALLEST_CHARACTERS) return compileFunction(text, parameters, options);
    const cachedData = compiled.get(text);
    const produceCachedData = cachedData === undefined;
    const compiledFunction = compileFunction(text, parameters, { ...options, cachedData, produceCachedData });
    if (produceCachedData) compiled.set(text, compiledFunction.cachedData);
    return compiledFunction;
  };
}

vm.compileFunction = compileOnce(vm.compileFunction);

module.exports = TestEnvironment;
