// A backup that is restored has all that was in it: who is known, who is signed in, and which tokens were used.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { findBinaries } from '../../bench/support/postgres-server.mjs';
import { Partner } from '../../demo/partner.js';
import type { DatabaseSettings } from '../../src/platform/database/data-source.js';
import { EmptyDatabase } from '../package/support/empty-database.js';
import { describeOnEmbedded, describeOnPostgresql, TestDatabase } from '../support/databases.js';
import { TestClock } from '../support/test-clock.js';
import { TestService } from '../support/test-service.js';

const partner = Partner.create({ issuer: 'https://partner.example' });
const environment = { SVC_ENCRYPTION_KEY: Buffer.alloc(32, 9).toString('base64') };
/** The clock is stopped, so that tokens do not expire during dump and restore. They are refused as used. */
const clock = new TestClock();
const options = { trustedKeys: [partner.staticEntry()], environment, clock };
const newToken = () => partner.sign(partner.claims({ iat: Math.floor(clock.nowSeconds()) }));

/** A database that somebody has restored. */
class RestoredDatabase extends TestDatabase {
  constructor(private readonly restored: DatabaseSettings) {
    super(restored.kind);
  }

  override get settings(): DatabaseSettings {
    return this.restored;
  }
}

/** What was there before the backup, to be found again. */
interface Left {
  readonly usedTokens: readonly string[];
  readonly cookie: string;
  readonly accessToken: string;
}

async function leave(database: TestDatabase): Promise<Left> {
  const service = await TestService.start(database, options);
  try {
    const usedTokens = [newToken(), newToken()];
    const [first = '', second = ''] = usedTokens;
    const cookie = await service.sessionCookie(first);
    const accessToken = await service.accessToken({ subject_token: second });
    return { usedTokens, cookie, accessToken };
  } finally {
    await service.stop();
  }
}

async function expectRestored(settings: DatabaseSettings, left: Left): Promise<void> {
  const service = await TestService.start(new RestoredDatabase(settings), options);
  try {
    for (const token of left.usedTokens) {
      expect((await service.exchange({ subject_token: token })).status).toBe(400);
      expect((await service.embed({ token })).status).toBe(401);
    }
    const me = async (headers: Record<string, string>) =>
      (await service.fetch('/rest/me', { headers })).status;
    expect(await me({ cookie: left.cookie })).toBe(200);
    expect(await me({ authorization: `Bearer ${left.accessToken}` })).toBe(200);
    expect((await service.exchange({ subject_token: newToken() })).status).toBe(200);
  } finally {
    await service.stop();
  }
}

describeOnPostgresql('a PostgreSQL dump', (database) => {
  it('restores everything', async () => {
    if (database.settings.kind !== 'postgresql') throw new Error('declared for PostgreSQL');
    const left = await leave(database);
    const folder = mkdtempSync(join(tmpdir(), 'dump-'));
    const file = join(folder, 'instance.dump');
    // Beside what the server's name leads to: it may be a link.
    const program = (name: string) => join(dirname(realpathSync(join(findBinaries(), 'postgres'))), name);
    const restored = await EmptyDatabase.create();
    try {
      execFileSync(program('pg_dump'), ['-Fc', '-f', file, '-d', database.settings.url]);
      execFileSync(program('pg_restore'), ['--no-owner', '-d', restored.url, file]);
      await expectRestored({ ...database.settings, url: restored.url }, left);
    } finally {
      await restored.remove();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describeOnEmbedded("a copy of an embedded database's folder", (database) => {
  it('restores everything if the database was stopped', async () => {
    if (database.settings.kind !== 'embedded') throw new Error('declared for the embedded database');
    const left = await leave(database);
    const copy = mkdtempSync(join(tmpdir(), 'copy-'));
    try {
      cpSync(database.settings.directory, copy, { recursive: true });
      await expectRestored({ ...database.settings, directory: copy }, left);
    } finally {
      rmSync(copy, { recursive: true, force: true });
    }
  });
});
