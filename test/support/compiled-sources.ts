// Puts the files of the pages together as a build does, for applications that tests run from the sources.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { lastingFolder } from './run-folder.js';
import { REPOSITORY, repositoryFiles } from './source-files.js';

/** Everything that the files of the pages are made of. */
const SOURCES = ['pages', 'src/administration/partners', 'src/config', 'src/workspace/reference'];

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
  execFileSync(process.execPath, [join(REPOSITORY, 'pages', 'build.mjs'), draft], { stdio: 'pipe' });
  try {
    renameSync(draft, folder);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
}

function stateOfSources(): string {
  const hash = createHash('sha256');
  for (const { path, text } of SOURCES.flatMap((folder) => repositoryFiles(folder)))
    hash.update(path).update('\0').update(text);
  return hash.digest('hex').slice(0, 16);
}
