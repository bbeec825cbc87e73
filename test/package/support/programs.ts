// The programs of the documents, in a folder that resolves the package and its dependencies.
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Installation } from './packed-package.js';

/** Programs by their paths, which their first lines name. */
export type Programs = Readonly<Record<string, string>>;

/** All of a document that name a path. */
export function programsOf(text: string): Programs {
  const programs = [...text.matchAll(/```[jt]s\n\/\/ (\S+)\n([\s\S]*?)```/g)];
  return Object.fromEntries(programs.map(([, path = '', program = '']) => [path, program]));
}

export function folderBeside({ folder: installed }: Installation, files: Programs): string {
  const folder = mkdtempSync(join(tmpdir(), 'package-users-'));
  symlinkSync(join(installed, 'node_modules'), join(folder, 'node_modules'), 'dir');
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  for (const [path, program] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), program);
  }
  return folder;
}

/** What every runner of tests gives, as far as the documents use it. */
export const TEST_GLOBALS = `
declare function describe(title: string, block: () => void): void;
declare function it(title: string, run: () => Promise<void>): void;
declare function afterEach(run: () => Promise<void> | undefined): void;
declare function expect(value: unknown): { toBe(other: unknown): void; toEqual(other: unknown): void };
`;
