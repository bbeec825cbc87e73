// Puts the files of the pages together as a build does, for applications that tests run from the sources.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { lastingFolder } from './run-folder.js';
import { REPOSITORY, repositoryFile, repositoryFiles } from './source-files.js';

const COMPILER = join(REPOSITORY, 'node_modules', 'typescript', 'bin', 'tsc');
const EMBED = join(REPOSITORY, 'src', 'web', 'embed');
const BUILDER = 'scripts/build-pages.mjs';

/** A folder with these in it. Its name tells the state of the sources, so that they are built once. */
export function compiledSources(): string {
  const owner = process.getuid?.() ?? 'user';
  const folder = join(lastingFolder(), `svc-test-${owner}-pages-${stateOfSources()}`);
  if (!existsSync(folder)) compileInto(folder);
  return folder;
}

/** Workers may do this at the same moment: each fills a draft of its own, and the first gives it the name. */
function compileInto(folder: string): void {
  const draft = mkdtempSync(`${folder}-`);
  const compile = [COMPILER, '-p', EMBED, '--outDir', join(draft, 'web', 'embed')];
  execFileSync(process.execPath, compile);
  execFileSync(process.execPath, [...compile, '--emitDeclarationOnly', '--removeComments', 'false']);
  buildPages(draft, join(REPOSITORY, 'src'));
  try {
    renameSync(draft, folder);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
}

/** @throws Error where a page names a file that is not there */
export function buildPages(folder: string, sources: string): void {
  execFileSync(process.execPath, [join(REPOSITORY, BUILDER), folder, sources], { stdio: 'pipe' });
}

function stateOfSources(): string {
  const hash = createHash('sha256');
  const files = ['src/web', 'src/workspace/reference', 'src/operator/page/public'].flatMap((folder) =>
    repositoryFiles(folder),
  );
  for (const { path, text } of [...files, repositoryFile(BUILDER)])
    hash.update(path).update('\0').update(text);
  return hash.digest('hex').slice(0, 16);
}
