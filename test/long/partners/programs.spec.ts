// The partners of examples/partners in every language. Languages without tools or packages are skipped.
import { spawnSync } from 'node:child_process';
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProgramState } from '../../partner/support/conformance.js';
import { describeProgram, ecKey } from '../../partner/support/conformance.js';
import type { RunnableProgram } from '../../partner/support/partner-program.js';
import { lastingFolder } from '../../support/run-folder.js';
import { isWholeSeries } from '../../support/series.js';
import { REPOSITORY } from '../../support/source-files.js';

const PROGRAMS = join(REPOSITORY, 'examples', 'partners');
const FETCHING_MS = 600_000;
const STARTING_MS = 120_000;
const folders: string[] = [];
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

/** The program's error for a key that it cannot sign with. */
interface Misfit {
  /** Default: the program's own error. */
  readonly command?: RunnableProgram['command'];
  readonly status: number;
  readonly told: RegExp;
}

interface Language {
  readonly name: string;
  readonly title: string;
  /** Commands that fetch, build or look for what the program needs, in a copy of its folder. */
  readonly preparing: readonly (readonly [program: string, ...args: string[]])[];
  readonly command: (folder: string) => RunnableProgram['command'];
  /** Creates another key, if the program needs one that is not P-256 as PKCS #8. */
  readonly foreignKey?: () => string;
  readonly isSequential?: boolean;
  readonly misfit?: Misfit;
}

/** Java derives no public key, so the file has both halves. */
function bothHalves(): string {
  const pem = ecKey();
  return pem + createPublicKey(pem).export({ type: 'spki', format: 'pem' }).toString();
}

function rsaKey(): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 3072 });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

const LANGUAGES: readonly Language[] = [
  {
    name: 'python',
    title: 'Python with the packages of requirements.txt',
    preparing: [
      ['python3', '-m', 'venv', 'venv'],
      ['venv/bin/pip', 'install', '--quiet', '--requirement', 'requirements.txt'],
    ],
    command: (folder) => [join(folder, 'venv', 'bin', 'python'), 'partner.py'],
  },
  {
    name: 'go',
    title: 'Go',
    preparing: [['go', 'build', '-o', 'partner', '.']],
    command: (folder) => [join(folder, 'partner')],
  },
  {
    name: 'java',
    title: 'Java',
    preparing: [
      ['java', '--version'],
      [
        'mvn',
        '--quiet',
        '--batch-mode',
        'compile',
        'dependency:build-classpath',
        '-Dmdep.outputFile=classpath.txt',
      ],
    ],
    command: (folder) => {
      const classpath = readFileSync(join(folder, 'classpath.txt'), 'utf8').trim();
      return ['java', '-cp', `target/classes:${classpath}`, 'partner.Partner'];
    },
    foreignKey: bothHalves,
    misfit: { status: 1, told: /the key file has no PUBLIC KEY; Java needs both halves in it/ },
  },
  {
    name: 'php',
    title: 'PHP',
    preparing: [['php', '-r', 'exit(extension_loaded("openssl") ? 0 : 1);']],
    // The port comes by the environment, as with the others.
    command: () => ['sh', '-c', 'exec php -S "127.0.0.1:$PORT" partner.php'],
    isSequential: true,
    foreignKey: rsaKey,
    // Runs the program for one request, as the web server would.
    misfit: {
      command: [
        'php',
        '-r',
        `$_SERVER['REQUEST_METHOD'] = 'POST'; $_SERVER['REQUEST_URI'] = '/embed-token'; require 'partner.php';`,
      ],
      status: 0,
      told: /the key file has no RSA key, and this program signs RS256/,
    },
  },
  {
    name: 'ruby',
    title: 'Ruby',
    preparing: [['ruby', '-e', 'require "jwt"; require "sinatra/base"; require "puma"']],
    command: () => ['ruby', 'partner.rb'],
  },
  {
    name: 'csharp',
    title: 'C#',
    preparing: [['dotnet', 'build', '--configuration', 'Release', '--output', 'made']],
    command: () => ['dotnet', 'made/Partner.dll'],
  },
];

for (const language of LANGUAGES) {
  const state = stateOf(language);
  describeProgram(language.title, state);
  if (language.misfit !== undefined && 'command' in state)
    describeMisfit(language.title, state, language.misfit);
}

/** Uses the guide's key unchanged, which this language's libraries cannot read. */
function describeMisfit(title: string, { command, folder }: RunnableProgram, misfit: Misfit): void {
  it(
    `the partner in ${title} reports why it cannot sign with a key`,
    () => {
      const keyFile = join(folder, 'misfit.pem');
      writeFileSync(keyFile, ecKey(), { mode: 0o400 });
      const [program, ...args] = misfit.command ?? command;
      const { status, stdout, stderr } = spawnSync(program, args, {
        cwd: folder,
        env: { PATH: process.env['PATH'], KEY_FILE: keyFile },
        encoding: 'utf8',
        timeout: STARTING_MS,
      });
      expect({ status, told: stderr }).toEqual({
        status: misfit.status,
        told: expect.stringMatching(misfit.told),
      });
      expect(stdout).not.toContain('eyJ');
    },
    STARTING_MS,
  );
}

/** Runs synchronously, so that the result decides which tests are declared. */
function stateOf({ name, preparing, command, foreignKey, isSequential }: Language): ProgramState {
  if (!isWholeSeries) return { reason: 'fetches packages, run it by `npm run test:long -- partners`' };
  // A folder on disk, because some machines forbid executing programs in memory-backed folders.
  const folder = mkdtempSync(join(lastingFolder(), `partner-${name}-`));
  folders.push(folder);
  cpSync(join(PROGRAMS, name), folder, { recursive: true });
  for (const [program, ...args] of preparing) {
    const options = { cwd: folder, encoding: 'utf8', timeout: FETCHING_MS } as const;
    const { error, status, stdout, stderr } = spawnSync(program, args, options);
    if (error !== undefined && 'code' in error && error.code === 'ENOENT')
      return { reason: `${program} is not on this machine` };
    if (status !== 0) return { reason: `${program} could not prepare it: ${(stdout + stderr).slice(-300)}` };
  }
  return { command: command(folder), folder, foreignKey, isSequential };
}
