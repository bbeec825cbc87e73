// An instance of the release before writes to tables whose names have changed since, while the others are being updated.
import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { describeOnEachDatabase } from '../support/databases.js';

const ISSUER = 'https://partner.example';

describeOnEachDatabase('the tables under their names of the release before', (database) => {
  let dataSource: DataSource;
  let userId: string;

  beforeAll(async () => {
    ({ dataSource } = await database.open());
    userId = randomUUID();
    await dataSource.query(
      `INSERT INTO user_account (id, email, normalized_email, role) VALUES ($1, $2, $2, 'global:member')`,
      [userId, 'old@partner.example'],
    );
  });

  const rowsOf = (table: string) => dataSource.query<Record<string, unknown>[]>(`SELECT * FROM ${table}`);
  const [later, hash] = [new Date(Date.now() + 60_000), Buffer.alloc(32, 1)];

  it('[5.2.5] take a used id once, whichever release writes it', async () => {
    const use = (table: string) =>
      dataSource.query<unknown[]>(
        `INSERT INTO ${table} (jti_hash, expires_at) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING jti_hash`,
        [hash, later],
      );
    expect(await use('used_jti')).toHaveLength(1);
    expect(await use('token_exchange_used_jti')).toHaveLength(0);
    expect(await use('used_jti')).toHaveLength(0);
  });

  it('[2.5.1] take a link, and go with the user', async () => {
    const link = () =>
      dataSource.query<unknown[]>(
        `INSERT INTO identity_link (issuer, subject, user_id) VALUES ($1, 'old', $2)
         ON CONFLICT (issuer, subject) DO NOTHING RETURNING user_id`,
        [ISSUER, userId],
      );
    expect(await link()).toHaveLength(1);
    expect(await link()).toHaveLength(0);
    expect(await rowsOf('token_exchange_identity_link')).toMatchObject([{ subject: 'old', user_id: userId }]);
  });

  it('[D28] take, shorten and end sessions', async () => {
    await dataSource.query(
      `INSERT INTO web_session (id_hash, user_id, family_id, created_at, expires_at) VALUES ($1, $2, $3, now(), $4)`,
      [hash, userId, randomUUID(), later],
    );
    await dataSource.query(
      `WITH shortened AS (
         UPDATE web_session SET expires_at = least(expires_at, $2) WHERE id_hash = ANY ($1) RETURNING 1
       ) SELECT 1 FROM shortened`,
      [[hash], new Date()],
    );
    expect(await rowsOf('token_exchange_session')).toHaveLength(1);
    await dataSource.query('DELETE FROM web_session WHERE expires_at < $1', [later]);
    expect(await rowsOf('token_exchange_session')).toEqual([]);
  });

  it('[D36] hold the key sets and the signing keys of both', async () => {
    await dataSource.query(
      `INSERT INTO jwks_snapshot AS held (url_hash, url, key_set, revision) VALUES ('hash', 'url', '{}', 1)
       ON CONFLICT (url_hash) DO UPDATE SET revision = held.revision + 1`,
    );
    await dataSource.query(
      `INSERT INTO signing_key VALUES ('kid', '{}', '\\x00', now(), now(), now() + interval '1 day')`,
    );
    expect(await rowsOf('token_exchange_jwks_snapshot')).toMatchObject([{ url: 'url', revision: 1 }]);
    expect(await rowsOf('token_exchange_signing_key')).toMatchObject([{ kid: 'kid' }]);
  });
});
