// The transform of the tests, but that one file has the change that the environment names.
const { createTransformer } = require('@swc/jest');

const { file, start, end, text } = JSON.parse(process.env.MUTANT);

function changed(source, path) {
  return path === file ? `${source.slice(0, start)}${text}${source.slice(end)}` : source;
}

exports.createTransformer = (options) => {
  const transform = createTransformer(options);
  return {
    process: (source, path, run) => transform.process(changed(source, path), path, run),
    getCacheKey: (source, path, run) => transform.getCacheKey(changed(source, path), path, run),
  };
};
