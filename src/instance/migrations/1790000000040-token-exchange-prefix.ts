// Tables that have become those of the token-exchange package get its prefix.
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * An instance of the release before may run until it is updated too: it finds the tables under their old names, as views that
 * it can write to. Only its purge of replay records fails while it leads, and logs that: they wait until another instance does.
 */
export class TokenExchangePrefix1790000000040 implements MigrationInterface {
  readonly name = 'TokenExchangePrefix1790000000040';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const [table, { name, indexes }] of Object.entries(RENAMED)) {
      await queryRunner.query(`ALTER TABLE ${table} RENAME TO ${name}`);
      for (const index of indexes) {
        const renamed = index.replace(table, name);
        await queryRunner.query(`ALTER INDEX ${index} RENAME TO ${renamed}`);
      }
      await queryRunner.query(`CREATE VIEW ${table} AS SELECT * FROM ${name}`);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const [table, { name, indexes }] of Object.entries(RENAMED)) {
      await queryRunner.query(`DROP VIEW ${table}`);
      for (const index of indexes) {
        const renamed = index.replace(table, name);
        await queryRunner.query(`ALTER INDEX ${renamed} RENAME TO ${index}`);
      }
      await queryRunner.query(`ALTER TABLE ${name} RENAME TO ${table}`);
    }
  }
}

const RENAMED = {
  used_jti: { name: 'token_exchange_used_jti', indexes: ['used_jti_expiry'] },
  identity_link: { name: 'token_exchange_identity_link', indexes: ['identity_link_user'] },
  jwks_snapshot: { name: 'token_exchange_jwks_snapshot', indexes: [] },
  leader_lease: { name: 'token_exchange_leader_lease', indexes: [] },
  web_session: {
    name: 'token_exchange_session',
    indexes: ['web_session_user', 'web_session_expiry', 'web_session_family'],
  },
  signing_key: { name: 'token_exchange_signing_key', indexes: [] },
} as const;
