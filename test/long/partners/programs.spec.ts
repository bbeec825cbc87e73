// The partners of examples/partners in every language whose tools and packages can be had; each is skipped where they cannot.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ProgramState } from '../../partner/support/conformance.js';
import { describeProgram } from '../../partner/support/conformance.js';
import type { RunnableProgram } from '../../partner/support/partner-program.js';
import { lastingFolder } from '../../support/run-folder.js';
import { sizeOf } from '../../support/series.js';
import { REPOSITORY } from '../../support/source-files.js';

const PROGRAMS = join(REPOSITORY, 'examples', 'partners');
const FETCHING_MS = 600_000;
const folders: string[] = [];
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

interface Language {
  readonly name: string;
  readonly title: string;
  /** Commands that fetch, build or look for what the program needs, in a copy of its folder. */
  readonly preparing: readonly (readonly [program: string, ...args: string[]])[];
  readonly command: (folder: string) => RunnableProgram['command'];
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
  },
  {
    name: 'php',
    title: 'PHP',
    preparing: [['php', '-r', 'exit(extension_loaded("openssl") ? 0 : 1);']],
    // The port comes by the environment, as with the others.
    command: () => ['sh', '-c', 'exec php -S "127.0.0.1:$PORT" partner.php'],
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

for (const language of LANGUAGES) describeProgram(language.title, stateOf(language));

/** At once, so that tests can be declared by what comes of it. */
function stateOf({ name, preparing, command }: Language): ProgramState {
  if (sizeOf({ small: 0, whole: 1 }) === 0)
    return { reason: 'fetches packages, run it by `npm run test:long -- partners`' };
  // Not where tests have their databases: in memory nothing may be executed on some machines.
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
  return { command: command(folder), folder };
}
