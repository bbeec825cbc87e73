// Puts the files of the pages together as a build does, for applications that tests run from the sources.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { lastingFolder } from './run-folder.js';
import { REPOSITORY, repositoryFiles } from './source-files.js';

const COMPILER = join(REPOSITORY, 'node_modules', 'typescript', 'bin', 'tsc');
const EMBED = join(REPOSITORY, 'src', 'web', 'embed');

/** Files that a build copies as they are. */
const COPIED = [
  join('web', 'public'),
  join('workspace', 'reference', 'public'),
  join('operator', 'page', 'public'),
];

/** A folder with these in it, and what is compiled for pages. Its name tells the state of the sources, so that they are compiled once. */
export function compiledSources(): string {
  const owner = process.getuid?.() ?? 'user';
  const folder = join(lastingFolder(), `svc-test-${owner}-pages-${stateOfSources()}`);
  if (!existsSync(folder)) compileInto(folder);
  return folder;
}

/** Workers may do this at the same moment: each fills a draft of its own, and the first gives it the name. */
function compileInto(folder: string): void {
  const draft = mkdtempSync(`${folder}-`);
  for (const folder of COPIED)
    cpSync(join(REPOSITORY, 'src', folder), join(draft, folder), { recursive: true });
  const compile = [COMPILER, '-p', EMBED, '--outDir', join(draft, 'web', 'public')];
  execFileSync(process.execPath, compile);
  execFileSync(process.execPath, [...compile, '--emitDeclarationOnly', '--removeComments', 'false']);
  try {
    renameSync(draft, folder);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
}

function stateOfSources(): string {
  const hash = createHash('sha256');
  const files = ['src/web', 'src/workspace/reference', 'src/operator/page/public'].flatMap((folder) =>
    repositoryFiles(folder),
  );
  for (const { path, text } of files) hash.update(path).update('\0').update(text);
  return hash.digest('hex').slice(0, 16);
}
