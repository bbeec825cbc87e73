// Packs the package and unpacks it into a folder beside links to just those packages that an installation would bring.
// Usage: node prepare.mjs FOLDER. What is complete stays as it is; several may ask for one folder at once.
import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { exclusively } from '../../../scripts/exclusive.mjs';

const REPOSITORY = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))));
const NAME = '@embedded-token-exchange/nestjs';
const SOURCES = ['test/package/host', 'examples/own-product/src', 'examples/with-defaults/src'];
/** What the host of the tests has besides the package and what that asks for. */
const OF_THE_HOST = [
  '@nestjs/platform-express',
  '@nestjs/platform-fastify',
  '@nestjs/testing',
  '@types/node',
  'class-transformer',
  'class-validator',
  'helmet',
];

const [, , folder] = process.argv;
await exclusively(`${folder}.lock`, async () => {
  if (existsSync(folder)) return;
  const draft = `${folder}.draft`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { recursive: true });
  await pack(draft);
  link(draft);
  await compileHost(draft);
  renameSync(draft, folder);
});

/** @throws Error with all that the program printed */
async function execute(program, args, options) {
  try {
    return await promisify(execFile)(program, args, options);
  } catch (error) {
    throw new Error(`${program} ${args.join(' ')}\n${error.stdout}\n${error.stderr}`, { cause: error });
  }
}

/** As a registry would have it: `package.tgz`; and as npm would unpack it. */
async function pack(draft) {
  const built = join(draft, 'built');
  await execute(process.execPath, [join(REPOSITORY, 'scripts', 'build-package.mjs'), built]);
  // Its own scripts aside, npm needs no network for this.
  const { stdout } = await execute('npm', ['pack', built, '--json', '--offline'], { cwd: draft });
  const [{ filename }] = Object.values(JSON.parse(stdout));
  renameSync(join(draft, filename), join(draft, 'package.tgz'));
  const home = join(draft, 'node_modules', NAME);
  mkdirSync(home, { recursive: true });
  await execute('tar', ['-xzf', join(draft, 'package.tgz'), '--strip-components=1', '-C', home]);
}

function link(draft) {
  const manifest = JSON.parse(readFileSync(join(draft, 'node_modules', NAME, 'package.json'), 'utf8'));
  const { dependencies, peerDependencies } = manifest;
  for (const name of [...Object.keys({ ...dependencies, ...peerDependencies }), ...OF_THE_HOST]) {
    const place = join(draft, 'node_modules', name);
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(join(REPOSITORY, 'node_modules', name), place, 'dir');
  }
}

/** Against the types of the package as it is packed, not against its sources. */
async function compileHost(draft) {
  for (const path of SOURCES) cpSync(join(REPOSITORY, path), join(draft, path), { recursive: true });
  writeFileSync(join(draft, 'package.json'), '{ "type": "module" }');
  const shared = JSON.parse(readFileSync(join(REPOSITORY, 'tsconfig.json'), 'utf8'));
  const compilerOptions = { ...shared.compilerOptions, types: ['node'], rootDir: '.', outDir: 'dist' };
  writeFileSync(join(draft, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: SOURCES }));
  const compiler = join(REPOSITORY, 'node_modules', 'typescript', 'bin', 'tsc');
  await execute(process.execPath, [compiler, '-p', draft]);
}
