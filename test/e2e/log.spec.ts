// The log of the built service on a pipe whose reader is late or gone, and on a full disk.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { describeBuilt } from '../support/built-service.js';
import { REPOSITORY } from '../support/source-files.js';

const LOGGER_URL = pathToFileURL(join(REPOSITORY, 'dist/src/platform/log/logger.js')).href;
const LINES = 100_000;
/** Some 40 MB of lines before anybody reads. */
const WRITER = `
  const { createLogger } = await import(${JSON.stringify(LOGGER_URL)});
  const logger = createLogger('info');
  const filler = 'é'.repeat(150);
  for (let number = 1; number <= ${LINES}; number += 1) logger.info({ number, filler }, 'a line');
  process.stderr.write('written');
  logger.flush(() => process.exit());`;

interface Line {
  readonly msg: string;
  readonly number?: number;
  readonly dropped?: number;
}

describeBuilt('a log that is not read for long', () => {
  it('keeps its first lines whole, and then says how many it has dropped', async () => {
    const writer = spawn(process.execPath, ['--input-type=module', '--eval', WRITER]);
    await once(writer.stderr, 'data');
    const log = await text(writer.stdout);
    const lines = log
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Line);
    const kept = lines.filter(({ msg }) => msg === 'a line').map(({ number }) => number);
    expect(kept).toEqual(Array.from(kept, (_, index) => index + 1));
    expect(kept.length).toBeLessThan(LINES);
    expect(Buffer.byteLength(log)).toBeGreaterThan(16_000_000);
    expect(lines.slice(kept.length)).toEqual([
      expect.objectContaining({ level: 'warn', dropped: LINES - kept.length }),
    ]);
  });
});

/** Goes on logging after its reader has gone, and then waits until all of it is written. */
const DESERTED_WRITER = `
  const { StandardOutput, createLogger } = await import(${JSON.stringify(LOGGER_URL)});
  const output = new StandardOutput();
  const logger = createLogger('info', output);
  for (let number = 1; number <= 20; number += 1) {
    logger.info({ number }, 'a line');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await output.written();
  process.stderr.write(String(output.unwrittenBytes));
  process.exit();`;

/** Logs to a full disk. */
const FULL_DISK_WRITER = `
  const { createLogger } = await import(${JSON.stringify(LOGGER_URL)});
  const logger = createLogger('info');
  for (let number = 1; number <= 5; number += 1) {
    logger.info({ number }, 'a line');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  process.stderr.write('goes on');
  process.exit();`;

describeBuilt('a log on a full disk', () => {
  it('does not end the process', async () => {
    const full = openSync('/dev/full', 'w');
    const writer = spawn(process.execPath, ['--input-type=module', '--eval', FULL_DISK_WRITER], {
      stdio: ['ignore', full, 'pipe'],
    });
    closeSync(full);
    expect(await text(writer.stderr!)).toBe('goes on');
  });
});

describeBuilt('a log whose reader has disconnected', () => {
  it('is not waited for', async () => {
    const writer = spawn(process.execPath, ['--input-type=module', '--eval', DESERTED_WRITER]);
    await once(writer.stdout, 'data');
    writer.stdout.destroy();
    expect(await text(writer.stderr)).toBe('0');
  });
});
