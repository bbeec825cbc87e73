// Files that are read once for several processes.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FileRecord } from '../../../src/start/file-record.js';

describe('[D123] the files of a start', () => {
  const folder = mkdtempSync(join(tmpdir(), 'file-record-'));
  const path = join(folder, 'setting');
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('are what they were when they were read first, there or not, also for who is handed the record', () => {
    const record = new FileRecord();
    writeFileSync(path, 'before');
    expect(record.read(path)).toBe('before');
    expect(() => record.read(join(folder, 'absent'))).toThrow(expect.objectContaining({ code: 'ENOENT' }));
    writeFileSync(path, 'after');
    writeFileSync(join(folder, 'absent'), 'there by now');
    const handedOn = new FileRecord(structuredClone(record.outcomes));
    expect(handedOn.read(path)).toBe('before');
    expect(() => handedOn.read(join(folder, 'absent'))).toThrow(expect.objectContaining({ code: 'ENOENT' }));
    expect(new FileRecord().read(path)).toBe('after');
  });
});
