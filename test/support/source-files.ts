// Finds and reads the files of the repository, for tests that look at the code itself.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The top folder of the repository. */
export const REPOSITORY = join(__dirname, '..', '..');

/** Made by tools or by a person's own work on the machine; nothing of it is committed. */
const NOT_OURS =
  /^(dist|coverage|data|instance|partner)$|(^|\/)(\.git|node_modules|\.env.*|[^/]*\.log|\.DS_Store)$/;

/** A text file. `path` is relative to the repository and has forward slashes. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** Every text file under a folder (the repository by default), in alphabetical order. */
export function repositoryFiles(folder = ''): SourceFile[] {
  return filePaths(folder)
    .map((path) => ({ path, text: readFileSync(join(REPOSITORY, path), 'utf8') }))
    .filter(({ text }) => !text.includes('\0'));
}

/** The TypeScript files under a folder. */
export function typescriptFiles(folder: string): SourceFile[] {
  return repositoryFiles(folder).filter(({ path }) => path.endsWith('.ts'));
}

/** Reads one file by its path. */
export function repositoryFile(path: string): SourceFile {
  return { path, text: readFileSync(join(REPOSITORY, path), 'utf8') };
}

function filePaths(folder: string): string[] {
  return readdirSync(join(REPOSITORY, folder), { withFileTypes: true })
    .map((entry) => ({ entry, path: folder === '' ? entry.name : `${folder}/${entry.name}` }))
    .filter(({ path }) => !NOT_OURS.test(path))
    .sort((one, other) => (one.path < other.path ? -1 : 1))
    .flatMap(({ entry, path }) => {
      if (entry.isDirectory()) return filePaths(path);
      return entry.isFile() ? [path] : [];
    });
}
