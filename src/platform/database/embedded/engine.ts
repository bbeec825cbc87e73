// The embedded engine: PostgreSQL in this process, spoken to in the bytes of its protocol.
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { forceAll, forcedFiles, forcingStartParams } from './forced-writes.js';

/**
 * The log is kept as short as it may be. An ANALYZE, which holds all other statements up, reads a small sample: what
 * requests ask for is found by key. More buffers than these made no statement faster (bench/performance.md).
 */
const SETTINGS = [
  ...['min_wal_size=32MB', 'max_wal_size=32MB'],
  ...['default_statistics_target=3', 'shared_buffers=16MB'],
];

/** Where the engine keeps its files. */
export interface EngineSettings {
  /** The data directory; the engine has a folder in it. */
  readonly directory: string;
}

/** An engine that runs, with the one session that it has. */
export interface Engine {
  /** Resolves with all that the messages are answered with. What is asked meanwhile has its turn afterwards. */
  ask(messages: Uint8Array): Promise<Uint8Array>;
  /** To be called once, when nothing is asked any more. */
  close(): Promise<void>;
  /** Resolves when the thread in which it runs has ended by itself: nothing is answered any more then. */
  readonly failed: Promise<Error>;
}

/** What runs in the caller's own thread ends with it. */
const NEVER = new Promise<never>(() => undefined);

/** Starts the engine in this thread, which is held up by each of its statements. */
export async function startEngine(settings: EngineSettings): Promise<Engine> {
  const pglite = await createPglite(settings);
  const ask = async (messages: Uint8Array) => {
    const parts: Uint8Array[] = [];
    // The bytes are those of the engine's own memory, where the next ones will be.
    const onRawData = (bytes: Uint8Array) => void parts.push(bytes.slice());
    await pglite.execProtocolRawStream(messages, { syncToFs: false, onRawData });
    return joined(parts);
  };
  return { ask, close: () => pglite.close(), failed: NEVER };
}

/** One block of bytes, which no one else has a part of: a message to another thread takes it along without a copy. */
export function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

/** Loaded only where it is used: the embedded engine is 27 MB that a PostgreSQL instance need not read. */
async function createPglite({ directory }: EngineSettings) {
  const { PGlite } = await import('@electric-sql/pglite');
  const startParams = [...PGlite.defaultStartParams, ...SETTINGS.flatMap((each) => ['-c', each])];
  const dataDirectory = join(directory, 'database');
  // The data directory may have been there before, open to all.
  mkdirSync(dataDirectory, { recursive: true });
  chmodSync(dataDirectory, 0o700);
  const fs = await forcedFiles(dataDirectory);
  const pglite = await PGlite.create({ fs, startParams: forcingStartParams(startParams) });
  // After the creation files may not be on the disk yet.
  await forceAll(dataDirectory);
  return pglite;
}
