// How the lines of a worker come into the output of the instance.
import { PassThrough } from 'node:stream';
import { passOnLines } from '../../../src/workers/worker-process.js';

/** An output that keeps what it is given, and writes it when it is told to. */
class HeldOutput {
  readonly blocks: string[] = [];
  unwrittenBytes = 0;
  hasReader = true;
  private write_: () => void = () => undefined;
  private hasWritten = Promise.resolve();

  write(block: Buffer): boolean {
    this.blocks.push(block.toString());
    this.unwrittenBytes += block.length;
    this.hasWritten = new Promise((resolve) => (this.write_ = resolve));
    return true;
  }

  written(): Promise<void> {
    return this.hasWritten;
  }

  writeAll(): void {
    this.unwrittenBytes = 0;
    this.write_();
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('[D123] the output of a worker', () => {
  let output: HeldOutput;
  let lines: PassThrough;
  let passedOn: Promise<void>;

  beforeEach(() => {
    output = new HeldOutput();
    lines = new PassThrough();
    passedOn = passOnLines(lines, output);
  });

  it('is passed on by whole lines, and what a killed worker had begun is left out', async () => {
    for (const part of ['{"a":', '1}\n{"b"', ':2}\n{"c":3}\n', '{"torn']) {
      lines.write(part);
      await settled();
    }
    lines.end();
    await passedOn;
    expect(output.blocks).toEqual(['{"a":1}\n', '{"b":2}\n{"c":3}\n']);
  });

  it('is not taken while a megabyte waits for a reader', async () => {
    const line = `${'x'.repeat(1024 * 1024)}\n`;
    lines.write(line);
    // What comes together is taken together: only what comes later has to wait.
    await settled();
    lines.write('next\n');
    await settled();
    expect(output.blocks.join('') === line).toBe(true);
    output.writeAll();
    await settled();
    expect(output.blocks.at(-1)).toBe('next\n');
    lines.end();
    await passedOn;
  });

  it('[D89] is closed for the worker once the output has no reader', async () => {
    output.hasReader = false;
    lines.write('{"a":1}\n');
    await passedOn;
    expect(lines.destroyed).toBe(true);
  });
});
