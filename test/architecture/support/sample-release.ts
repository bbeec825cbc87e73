// A small repository like ours, with a package that is ready to be packed, for trying the release script on.
import type { SpawnSyncReturns } from 'node:child_process';
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { REPOSITORY } from '../../support/source-files.js';

const SCRIPTS = ['release-pack.mjs', 'release-checks.mjs', 'package-checks.mjs'];
/** Stands in for ours, which compiles for seconds: the folder to build into is its argument. */
const BUILD = "import { cpSync } from 'node:fs';\ncpSync('package', process.argv[2], { recursive: true });\n";
const AUTHOR = ['-c', 'user.name=Author', '-c', 'user.email=author@author.example'];

export const LICENCE = 'A licence.\n';
export const MANIFEST = {
  name: 'sample-module',
  version: '0.2.0',
  license: 'Apache-2.0',
  type: 'module',
  files: ['lib', 'CHANGELOG.md'],
  exports: { '.': { types: './lib/index.d.ts', default: './lib/index.js' } },
};

/** A changelog in which one version is released. */
export function changelog({ version = '0.2.0', unreleased = '' } = {}): string {
  return `# Changelog\n\n## [Unreleased]\n${unreleased}\n## [${version}] - 2026-11-22\n\n### Added\n\n- It.\n`;
}

/** What a run of the script left. */
export interface Run {
  readonly code: number | null;
  readonly stdout: string;
  /** What it said itself, without what npm says of its own settings. */
  readonly stderr: string;
}

/** Files are named by their place in the repository; those of the package lie in `package/`. */
export class SampleRelease {
  readonly folder = mkdtempSync(join(tmpdir(), 'sample-release-'));
  private readonly temporary = join(this.folder, 'temporary');

  constructor() {
    for (const name of SCRIPTS) this.copy(`scripts/${name}`);
    symlinkSync(join(REPOSITORY, 'node_modules'), join(this.folder, 'node_modules'), 'dir');
    mkdirSync(this.temporary);
    this.write({
      '.gitignore': 'node_modules\ndist\ntemporary\n',
      'scripts/build-package.mjs': BUILD,
      'scripts/package-folders.mjs': "export const PACKAGE_FOLDERS = ['package'];\n",
      'package.json': { name: 'service', version: '0.2.0', license: 'Apache-2.0', private: true },
      LICENSE: LICENCE,
      'CHANGELOG.md': changelog(),
      'package/package.json': MANIFEST,
      'package/LICENSE': LICENCE,
      'package/README.md': '# Sample\n',
      'package/CHANGELOG.md': changelog(),
      'package/lib/index.js': 'export const answer = 42;\n',
      'package/lib/index.d.ts': 'export declare const answer: number;\n',
    });
    this.git('init', '--quiet');
  }

  /** Writes texts, and objects as JSON; `undefined` removes a file. */
  write(files: Readonly<Record<string, string | object | undefined>>): this {
    for (const [path, content] of Object.entries(files)) {
      const place = join(this.folder, path);
      mkdirSync(dirname(place), { recursive: true });
      if (content === undefined) rmSync(place);
      else writeFileSync(place, typeof content === 'string' ? content : JSON.stringify(content));
    }
    return this;
  }

  commit(): this {
    this.git('add', '--all');
    this.git(...AUTHOR, 'commit', '--quiet', '--allow-empty', '--message', 'A commit');
    return this;
  }

  tag(name: string): this {
    this.git('tag', name);
    return this;
  }

  pack(...args: string[]): Run {
    const { status, stdout, stderr } = this.spawn(process.execPath, ['scripts/release-pack.mjs', ...args]);
    return { code: status, stdout, stderr: stderr.replace(/^npm warn .*\n/gm, '') };
  }

  /** What lies where packages go unless another folder is named. */
  packed(): string[] {
    return this.namesIn('dist/release');
  }

  /** What the script has left behind of what it needed meanwhile. */
  leftovers(): string[] {
    return this.namesIn('temporary').filter((name) => name.startsWith('release-pack-'));
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  private namesIn(folder: string): string[] {
    const place = join(this.folder, folder);
    return existsSync(place) ? readdirSync(place) : [];
  }

  private copy(path: string): void {
    mkdirSync(dirname(join(this.folder, path)), { recursive: true });
    copyFileSync(join(REPOSITORY, path), join(this.folder, path));
  }

  private git(...args: string[]): void {
    const { status, stderr } = this.spawn('git', args);
    if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`);
  }

  /** Without the variables by which a git that runs the tests names its own repository. */
  private spawn(program: string, args: string[]): SpawnSyncReturns<string> {
    const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], TMPDIR: this.temporary };
    return spawnSync(program, args, { cwd: this.folder, env, encoding: 'utf8' });
  }
}
