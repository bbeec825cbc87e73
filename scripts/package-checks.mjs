// Checks a packed npm package: its files, its package.json, and what the tools of its users will make of it.
import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { checkPackage as checkTypes, createPackageFromTarballData } from '@arethetypeswrong/core';
import { problemKindInfo } from '@arethetypeswrong/core/problems';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import ts from 'typescript';

/** Findings that are known and meant to be: those with all members of `like`. */
const ACCEPTED = [
  {
    like: { kind: 'CJSResolvesToESM' },
    reason: 'CommonJS takes ES modules by require(esm), which every supported Node.js has',
  },
  {
    like: { kind: 'NoResolution', resolutionKind: 'node10' },
    reason: 'the resolution "node10" of TypeScript, which is deprecated, reads no exports map',
  },
];

/** What nobody needs who uses a package, or nobody may have. */
const UNWANTED = /(^|\/)(\.[^/]+|node_modules|tests?)(\/|$)|\.(spec\.\w+|pem|key|log|tgz|tsbuildinfo)$/;
const MODULE = /\.[cm]?[jt]s$/;
const NEEDED = ['LICENSE', 'README.md'];
/** They would run on the machine of whoever installs the package. */
const INSTALL_SCRIPTS = ['preinstall', 'install', 'postinstall'];

/**
 * @param file path of the packed package
 * @param surroundings `root`, the folder of the repository, and `service`, its package.json
 * @returns `problems`, for each of which the package is to be refused, and `accepted` findings with their reasons
 */
export async function checkPackage(file, { root, service }) {
  const tarball = new Uint8Array(readFileSync(file));
  const contents = createPackageFromTarballData(tarball);
  const top = `/node_modules/${contents.packageName}/`;
  const paths = contents
    .listFiles(top)
    .map((path) => path.slice(top.length))
    .sort();
  const read = (path) => contents.tryReadFile(`${top}${path}`);
  const manifest = JSON.parse(read('package.json'));
  const findings = [...(await publintFindings(tarball, manifest)), ...(await typeFindings(contents))];
  return {
    problems: [
      ...missingFiles(paths, manifest),
      ...fileProblems(paths, read, { root, service }),
      ...manifestProblems(manifest, service),
      ...importProblems(paths, read, manifest),
      ...findings.filter((finding) => reasonFor(finding) === undefined).map(({ text }) => text),
    ],
    accepted: findings.flatMap((finding) => {
      const reason = reasonFor(finding);
      return reason === undefined ? [] : [`${finding.text}: ${reason}`];
    }),
  };
}

function reasonFor(finding) {
  const isLike = ({ like }) => Object.entries(like).every(([name, value]) => finding[name] === value);
  return ACCEPTED.find(isLike)?.reason;
}

/** What every package has, and what `files` of its package.json names: files and folders. */
function missingFiles(paths, { files = [] }) {
  const isThere = (name) => paths.some((path) => path === name || path.startsWith(`${name}/`));
  return [...NEEDED, ...files].filter((name) => !isThere(name)).map((name) => `${name} is missing`);
}

function fileProblems(paths, read, { root, service }) {
  const unwanted = paths.filter((path) => UNWANTED.test(path));
  const problems = unwanted.map((path) => `${path} does not belong into it`);
  const [licence, changelog] = [read('LICENSE'), read('CHANGELOG.md')];
  if (licence !== undefined && licence !== readFileSync(join(root, 'LICENSE'), 'utf8'))
    problems.push('LICENSE is not that of the repository');
  if (changelog !== undefined && !changelog.includes(`\n## [${service.version}] - `))
    problems.push(`CHANGELOG.md does not tell of ${service.version}`);
  return problems;
}

function manifestProblems(manifest, service) {
  const problems = [];
  if (manifest.private === true)
    problems.push('package.json says that it is private: npm would not publish it');
  for (const member of ['version', 'license']) {
    if (manifest[member] !== service[member])
      problems.push(`package.json has ${member} ${manifest[member]}, the service ${service[member]}`);
  }
  const scripts = INSTALL_SCRIPTS.filter((name) => manifest.scripts?.[name] !== undefined);
  return [
    ...problems,
    ...scripts.map((name) => `package.json has a script ${name}, which runs at an installation`),
  ];
}

/** Here everything is installed, so that what the package does not ask for is missed only where it is used. */
function importProblems(paths, read, manifest) {
  const declared = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
  const undeclared = paths
    .filter((path) => MODULE.test(path))
    .flatMap((path) =>
      importedPackages(read(path))
        .filter((name) => !declared.includes(name))
        .map((name) => `${path} imports ${name}, which package.json does not ask for`),
    );
  return [...new Set(undeclared)];
}

/** The names of the packages that a file imports, those of Node.js and its own files left out. */
function importedPackages(text) {
  return ts
    .preProcessFile(text)
    .importedFiles.map(({ fileName }) => fileName)
    .filter((name) => !name.startsWith('.') && !isBuiltin(name))
    .map((name) => /^(@[^/]+\/)?[^/]+/.exec(name)[0]);
}

async function publintFindings(tarball, manifest) {
  const { messages } = await publint({ pack: { tarball: tarball.buffer }, strict: true });
  return messages.map((message) => ({
    kind: message.code,
    text: `publint: ${formatMessage(message, manifest, { color: false })}`,
  }));
}

async function typeFindings(contents) {
  const { types, problems } = await checkTypes(contents);
  if (types === false) return [{ kind: 'untyped', text: 'are-the-types-wrong: it has no types' }];
  return problems.map((problem) => ({ ...problem, text: `are-the-types-wrong: ${textOf(problem)}` }));
}

function textOf({ kind, entrypoint, resolutionKind, typesFileName, fileName }) {
  const place = [entrypoint, resolutionKind, typesFileName ?? fileName].filter((part) => part !== undefined);
  return `${kind} (${problemKindInfo[kind].title}) at ${place.join(', ')}`;
}
