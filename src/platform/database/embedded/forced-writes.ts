// Makes the embedded database treat its files as PostgreSQL does: committed data is synced to disk and
// survives a power loss, and other accounts have no access.
import type { Dirent } from 'node:fs';
import { closeSync, fsyncSync, openSync } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { PGlite } from '@electric-sql/pglite';
import type { NodeFS } from '@electric-sql/pglite/nodefs';

/** PGlite turns `fsync` off, and its `fdatasync` reports success without doing anything. */
const WITHOUT_FSYNC = '-F';
const WITH_FSYNC = ['-c', 'fsync=on', '-c', 'wal_sync_method=fsync'];
/** How many files of a new database are synced in parallel: a disk syncs many as fast as one. */
const AT_A_TIME = 64;
/** All permissions of group and others. */
const OTHERS = 0o077;
const INPUT_OUTPUT_ERROR = 29;

/** The parts of Emscripten's file system that are used here. Its files are Node.js files without `fsync`. */
interface EmscriptenModule {
  readonly NODEFS: {
    readonly node_ops: {
      mknod: (parent: unknown, name: string, mode: number, device: number) => unknown;
      setattr: (node: unknown, attributes: { readonly mode?: number }) => void;
    };
    readonly stream_ops: { fsync?: (stream: OpenStream) => number };
    readonly realPath: (node: unknown) => string;
  };
  readonly FS: { readonly ErrnoError: new (errno: number) => Error };
}

interface OpenStream {
  /** The file descriptor; folders have none. */
  readonly nfd?: number;
  readonly node: unknown;
}

/** @param startParams PGlite's own, which turn `fsync` off */
export function forcingStartParams(startParams: readonly string[]): string[] {
  return [...startParams.filter((each) => each !== WITHOUT_FSYNC), ...WITH_FSYNC];
}

/**
 * The embedded database's files, with an `fsync` that works. If it fails, PostgreSQL panics, as it must: the
 * content of the disk is unknown then.
 * @rule D98 What the embedded database has committed is synced to disk before the request is answered.
 */
export async function forcedFiles(directory: string): Promise<NodeFS> {
  const { NodeFS: Files } = await import('@electric-sql/pglite/nodefs');
  class ForcedFiles extends Files {
    override async init(pglite: PGlite, options: Parameters<NodeFS['init']>[1]) {
      const { emscriptenOpts } = await super.init(pglite, options);
      const preRun = [letForce as never, closeToOthers as never, ...(emscriptenOpts.preRun ?? [])];
      return { emscriptenOpts: { ...emscriptenOpts, preRun } };
    }
  }
  return new ForcedFiles(directory);
}

function letForce({ NODEFS, FS }: EmscriptenModule): void {
  NODEFS.stream_ops.fsync = ({ nfd, node }) => {
    try {
      if (nfd === undefined) forceFolder(NODEFS.realPath(node));
      else fsyncSync(nfd);
      return 0;
    } catch {
      throw new FS.ErrnoError(INPUT_OUTPUT_ERROR);
    }
  };
}

/** PostgreSQL sets this by its umask, which the engine ignores. */
function closeToOthers({ NODEFS: { node_ops: operations } }: EmscriptenModule): void {
  const { mknod, setattr } = operations;
  operations.mknod = (parent, name, mode, device) => mknod(parent, name, mode & ~OTHERS, device);
  operations.setattr = (node, attributes) => {
    const { mode } = attributes;
    setattr(node, mode === undefined ? attributes : { ...attributes, mode: mode & ~OTHERS });
  };
}

function forceFolder(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Syncs a folder and all its files, if they were written without `fsync`. */
export async function forceAll(directory: string): Promise<void> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const paths = (wanted: (entry: Dirent) => boolean) =>
    entries.filter(wanted).map((entry) => join(entry.parentPath, entry.name));
  await forceEach(paths((entry) => entry.isFile()));
  // A file survives only if the folder that contains it is synced too.
  await forceEach([...paths((entry) => entry.isDirectory()), directory]);
}

async function forceEach(paths: readonly string[]): Promise<void> {
  for (let from = 0; from < paths.length; from += AT_A_TIME)
    await Promise.all(paths.slice(from, from + AT_A_TIME).map(force));
}

async function force(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
