// The embedded database forces each commit to the disk. If the disk fails, it stops without losing a commit.
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SCHEMA } from '../../src/instance/schema.js';
import { openDatabase } from '../../src/platform/database/data-source.js';
import { describeOnEmbedded } from '../support/databases.js';

/** The files that the process syncs during some work. The operating system reports their names. */
async function forcedDuring(work: () => Promise<unknown>): Promise<string[]> {
  const forced: string[] = [];
  const { fsyncSync } = fs;
  const spy = jest.spyOn(fs, 'fsyncSync').mockImplementation((descriptor) => {
    forced.push(fs.readlinkSync(`/proc/self/fd/${descriptor}`));
    fsyncSync(descriptor);
  });
  try {
    await work();
  } finally {
    spy.mockRestore();
  }
  return forced;
}

const isOfTheLog = (path: string) => path.includes('/pg_wal/');
const INSERTION = `INSERT INTO token_exchange_used_jti VALUES (md5($1)::uuid, now())`;

describeOnEmbedded('[D98] the embedded database', (database) => {
  it('[D98] syncs its log at each commit, and its tables and folders at a checkpoint', async () => {
    const { dataSource, close } = await database.open();
    for (const id of ['one', 'two', 'three']) {
      const forced = await forcedDuring(() => dataSource.query(INSERTION, [id]));
      expect(forced.filter(isOfTheLog).length).toBeGreaterThan(0);
    }
    const forced = await forcedDuring(() => dataSource.query('CHECKPOINT'));
    expect(forced.filter((path) => path.includes('/base/')).length).toBeGreaterThan(0);
    expect(forced.filter((path) => path.endsWith('pg_control')).length).toBeGreaterThan(0);
    await close();
  });

  it('[D45] protects all its files and folders from other accounts', async () => {
    // The database of the block is a copy of a template, so it shows nothing.
    const directory = fs.mkdtempSync(join(tmpdir(), 'modes-'));
    const { dataSource, close } = await openDatabase({ kind: 'embedded', directory }, SCHEMA);
    await dataSource.query('CHECKPOINT');
    await close();
    const paths = fs.readdirSync(directory, { recursive: true, encoding: 'utf8' });
    expect(paths.length).toBeGreaterThan(900);
    expect(paths.filter((path) => (fs.statSync(join(directory, path)).mode & 0o077) !== 0)).toEqual([]);
  });

  it('[D98] stops if its log cannot be written, and keeps everything committed', async () => {
    const first = await openDatabase(database.settings, SCHEMA);
    await first.dataSource.query(INSERTION, ['kept']);
    const spy = jest.spyOn(fs, 'fsyncSync').mockImplementation(() => {
      throw Object.assign(new Error('EIO: i/o error, fsync'), { code: 'EIO' });
    });
    try {
      await expect(first.dataSource.query(INSERTION, ['lost'])).rejects.toThrow();
      expect(await first.stopped).toMatchObject({ severity: 'PANIC' });
      await first.close();
    } finally {
      spy.mockRestore();
    }
    const next = await openDatabase(database.settings, SCHEMA);
    const rows = await next.dataSource.query(
      `SELECT 1 FROM token_exchange_used_jti WHERE jti_hash = md5('kept')::uuid`,
    );
    expect(rows).toHaveLength(1);
    await next.dataSource.query(INSERTION, ['after']);
    await next.close();
  });
});
