// What keeps a database from being opened is one sentence with cause and remedy.
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { SCHEMA } from '../../src/instance/schema.js';
import type { OpenDatabase } from '../../src/platform/database/data-source.js';
import { openDatabase } from '../../src/platform/database/data-source.js';
import { describeOnPostgresql } from '../support/databases.js';
import { describeUnless } from '../support/describe-unless.js';

describeOnPostgresql('opening the database as a role', (database) => {
  const role = `opening_${randomUUID().slice(0, 8)}`;
  let owner: OpenDatabase;
  let name: string;

  beforeAll(async () => {
    owner = await database.open();
    [{ name }] = await owner.dataSource.query<[{ name: string }]>('SELECT current_database() AS name');
    await owner.dataSource.query(`CREATE ROLE ${role} LOGIN PASSWORD 'right'`);
  });
  afterAll(async () => {
    await owner.dataSource.query(`DROP OWNED BY ${role}`);
    await owner.dataSource.query(`DROP ROLE ${role}`);
  });

  const open = async (password = 'right', parameters = '') => {
    if (database.settings.kind !== 'postgresql') throw new Error('this is for PostgreSQL');
    const url = Object.assign(new URL(database.settings.url), { username: role, password });
    const opened = await openDatabase(
      { kind: 'postgresql', url: url.href + parameters, poolSize: 1 },
      SCHEMA,
    );
    await opened.close();
  };
  /** Changes something, and undoes it after the work. */
  const whereas = async (change: string, undo: string, work: () => Promise<void>) => {
    await owner.dataSource.query(change);
    await work().finally(() => owner.dataSource.query(undo));
  };

  it('fails if TLS is required and the server has none', () =>
    expect(open('right', '?sslmode=verify-full')).rejects.toThrow('does not support SSL connections'));

  it('fails without the right to connect', () =>
    whereas(
      `REVOKE CONNECT ON DATABASE "${name}" FROM PUBLIC`,
      `GRANT CONNECT ON DATABASE "${name}" TO PUBLIC`,
      () => expect(open()).rejects.toThrow(/may not connect .* GRANT CONNECT ON DATABASE .*\(42501\)/),
    ));

  it('fails with read-only rights', () =>
    whereas(
      `GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${role}`,
      `REVOKE SELECT ON ALL TABLES IN SCHEMA public FROM ${role}`,
      () =>
        expect(open()).rejects.toThrow(
          `The database role ${role} may not read and write the table active_user. As the owner of the tables: GRANT SELECT, INSERT`,
        ),
    ));

  it('fails without the right to create tables', async () => {
    const empty = `${role}_empty`;
    await owner.dataSource.query(`CREATE DATABASE ${empty}`);
    try {
      if (database.settings.kind !== 'postgresql') throw new Error('this is for PostgreSQL');
      const url = Object.assign(new URL(database.settings.url), {
        username: role,
        password: 'right',
        pathname: empty,
      });
      // PostgreSQL 14 lets every role create tables.
      const asOwner = new Client(Object.assign(new URL(database.settings.url), { pathname: empty }).href);
      await asOwner.connect();
      await asOwner.query('REVOKE CREATE ON SCHEMA public FROM PUBLIC');
      await asOwner.end();
      const settings = { kind: 'postgresql', url: url.href, poolSize: 1 } as const;
      await expect(openDatabase(settings, SCHEMA)).rejects.toThrow(
        /lacks a right: permission denied for schema public .*GRANT USAGE, CREATE/,
      );
    } finally {
      await owner.dataSource.query(`DROP DATABASE ${empty} WITH (FORCE)`);
    }
  });

  it('succeeds with the rights that the service needs', () =>
    whereas(
      `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${role}`,
      `REVOKE ALL ON ALL TABLES IN SCHEMA public FROM ${role}`,
      () => open(),
    ));
});

const disk = mkdtempSync(join(tmpdir(), 'tiny-disk-'));

function mount(...options: string[]): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', options.join(','), 'tmpfs', disk], { stdio: 'ignore' });
}

/** An engine that has failed to start keeps files open until its process ends. */
function unmount(): void {
  execFileSync('umount', ['--lazy', disk]);
}

function whyUnmountable(): string | undefined {
  try {
    mount('size=3m');
    unmount();
    return undefined;
  } catch {
    return 'this account may not mount a small file system';
  }
}

describeUnless(whyUnmountable(), 'a small disk', () => {
  const directory = join(disk, 'data');
  const open = () => openDatabase({ kind: 'embedded', directory }, SCHEMA);
  afterEach(unmount);
  afterAll(() => rmSync(disk, { recursive: true }));

  it('fails the first start if it is full, and allows the next one with more space', async () => {
    mount('size=3m', 'mode=0700');
    await expect(open()).rejects.toThrow(
      `The data directory ${directory} cannot be used: the disk is full. Free some space, then start again (ENOSPC).`,
    );
    mount('remount', 'size=300m');
    await (await open()).close();
  });

  it('fails the start if it is read-only', async () => {
    mount('size=3m', 'ro');
    await expect(open()).rejects.toThrow(/cannot be used: the file system is read-only\. .*\(EROFS\)/);
  });
});
