// Finds and reads the files of the repository, for tests that look at the code itself.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

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

/** Every file under a folder (the repository's top without one), in alphabetical order, binary ones left out. */
export function repositoryFiles(folder = ''): SourceFile[] {
  return filePaths(folder)
    .map((path) => ({ path, text: readFileSync(join(REPOSITORY, path), 'utf8') }))
    .filter(({ text }) => !text.includes('\0'));
}

/** The TypeScript files under a folder. */
export function typescriptFiles(folder: string): SourceFile[] {
  return repositoryFiles(folder).filter(({ path }) => path.endsWith('.ts'));
}

/** One file by its path. */
export function repositoryFile(path: string): SourceFile {
  return { path, text: readFileSync(join(REPOSITORY, path), 'utf8') };
}

/** Calls `visit` for every node of a TypeScript file, from its top to its bottom. */
export function visitNodes(file: SourceFile, visit: (node: ts.Node) => void): void {
  const walk = (node: ts.Node): void => {
    visit(node);
    ts.forEachChild(node, walk);
  };
  walk(parse(file));
}

/** The syntax tree of a TypeScript file. */
export function parse({ path, text }: SourceFile): ts.SourceFile {
  return ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
}

/** The number of the line, counted from 1, on which a node begins. */
export function lineOf(node: ts.Node): number {
  const source = node.getSourceFile();
  return source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
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
