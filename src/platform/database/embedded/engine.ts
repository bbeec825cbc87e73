// The embedded engine: PostgreSQL in this process, which speaks PostgreSQL's wire protocol.
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { forceAll, forcedFiles, forcingStartParams } from './forced-writes.js';

/**
 * The write-ahead log is as short as possible. ANALYZE blocks all other statements, so it reads a small
 * sample; requests find rows by key anyway. More buffers made no statement faster (bench/performance.md).
 */
const SETTINGS = [
  ...['min_wal_size=32MB', 'max_wal_size=32MB'],
  ...['default_statistics_target=3', 'shared_buffers=16MB'],
];

/** A running engine with its only session. */
export interface Engine {
  /** Resolves with the complete answer to the messages. Later calls wait for their turn. */
  ask(messages: Uint8Array): Promise<Uint8Array>;
  /** Call it once, after the last answer. */
  close(): Promise<void>;
  /** Resolves when the engine's thread has ended unexpectedly. No message gets a response afterwards. */
  readonly failed: Promise<Error>;
}

/** An engine in the caller's own thread cannot fail alone. */
const NEVER = new Promise<never>(() => undefined);

/**
 * Starts the engine in this thread. Each statement blocks the thread.
 * @param directory the data directory; the engine has a subfolder in it
 */
export async function startEngine(directory: string): Promise<Engine> {
  const pglite = await createPglite(directory);
  const ask = async (messages: Uint8Array) => {
    const parts: Uint8Array[] = [];
    // The bytes are a view of the engine's memory, which the next answer overwrites.
    const onRawData = (bytes: Uint8Array) => void parts.push(bytes.slice());
    await pglite.execProtocolRawStream(messages, { syncToFs: false, onRawData });
    return joined(parts);
  };
  return { ask, close: () => pglite.close(), failed: NEVER };
}

/**
 * Joins the parts in a new buffer of their own, which can be transferred to another thread without a copy.
 */
export function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

/** The engine's 27 MB are loaded on demand, because an instance on PostgreSQL does not need them. */
async function createPglite(directory: string) {
  const { PGlite } = await import('@electric-sql/pglite');
  const startParams = [...PGlite.defaultStartParams, ...SETTINGS.flatMap((each) => ['-c', each])];
  const dataDirectory = join(directory, 'database');
  // The data directory may already exist and be open to all.
  mkdirSync(dataDirectory, { recursive: true });
  chmodSync(dataDirectory, 0o700);
  const fs = await forcedFiles(dataDirectory);
  const pglite = await PGlite.create({ fs, startParams: forcingStartParams(startParams) });
  // PGlite does not sync the files that it creates.
  await forceAll(dataDirectory);
  return pglite;
}
