// Checks a packed npm package with the tools that its users have: publint and are-the-types-wrong.
import { readFileSync } from 'node:fs';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';

/** Every supported Node.js can load ES modules from CommonJS. TypeScript's "node10" cannot read an exports map. */
const isMeant = ({ kind, resolutionKind }) => kind === 'CJSResolvesToESM' || resolutionKind === 'node10';

/** @returns a line for each reason to refuse the package */
export async function packageProblems(file) {
  const tarball = new Uint8Array(readFileSync(file));
  const contents = createPackageFromTarballData(tarball);
  const manifest = JSON.parse(contents.readFile(`/node_modules/${contents.packageName}/package.json`));
  const { messages } = await publint({ pack: { tarball: tarball.buffer }, strict: true });
  // A package without exports is a program and is not imported.
  const { types, problems = [] } = manifest.exports === undefined ? {} : await checkPackage(contents);
  return [
    ...messages.map((message) => `publint: ${formatMessage(message, manifest, { color: false })}`),
    ...(types === false ? ['are-the-types-wrong: it has no types'] : []),
    ...problems
      .filter((problem) => !isMeant(problem))
      .map(({ kind, entrypoint }) => `are-the-types-wrong: ${kind} at ${entrypoint}`),
  ];
}
