// The transform of the tests, but that one file has the change of which the environment tells.
const transform = require('../../../support/jest-transform.cjs');

const { file, start, end, text } = JSON.parse(process.env.MUTANT);

function changed(source, path) {
  return path === file ? `${source.slice(0, start)}${text}${source.slice(end)}` : source;
}

module.exports = {
  process: (source, path, options) => transform.process(changed(source, path), path, options),
  getCacheKey: (source, path, options) => transform.getCacheKey(changed(source, path), path, options),
};
