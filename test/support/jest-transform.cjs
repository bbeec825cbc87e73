// Turns TypeScript and ESM-only dependencies into CommonJS for Jest: @nestjs/throttler is CommonJS and
// requires ESM Nest, which Jest's native ESM mode cannot do on Node 20.
const { readFileSync, existsSync } = require('node:fs');
const { dirname, join } = require('node:path');
const { createTransformer } = require('@swc/jest');

const target = 'es2022';
const common = { sourceMaps: 'inline', module: { type: 'commonjs', importInterop: 'node' } };

const typescript = createTransformer({
  ...common,
  module: { type: 'commonjs' },
  jsc: {
    target,
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
    keepClassNames: true,
  },
});
const javascript = createTransformer({
  module: { type: 'commonjs' },
  jsc: { target, parser: { syntax: 'ecmascript' }, keepClassNames: true },
});

const moduleKinds = new Map();

/** Tells whether the nearest package.json above a file declares ES modules. */
function isModulePackage(directory) {
  if (moduleKinds.has(directory)) return moduleKinds.get(directory);
  const manifest = join(directory, 'package.json');
  const parent = dirname(directory);
  const answer = existsSync(manifest)
    ? JSON.parse(readFileSync(manifest, 'utf8')).type === 'module'
    : parent !== directory && isModulePackage(parent);
  moduleKinds.set(directory, answer);
  return answer;
}

function transformerFor(path) {
  if (path.endsWith('.ts')) return typescript;
  if (path.endsWith('.mjs')) return javascript;
  // PGlite's own .cjs files call import(), which Jest's module loader cannot serve.
  if (path.endsWith('.cjs')) return path.includes('@electric-sql') ? javascript : undefined;
  return path.endsWith('.js') && isModulePackage(dirname(path)) ? javascript : undefined;
}

module.exports = {
  process(source, path, options) {
    const transformer = transformerFor(path);
    return transformer ? transformer.process(source, path, options) : { code: source };
  },
  getCacheKey(source, path, options) {
    const transformer = transformerFor(path) ?? javascript;
    const key = transformer.getCacheKey(source, path, options);
    return transformerFor(path) ? `${key}2` : `${key}0`;
  },
};
