// Columns and indexes that a release before this one does not know, and can live with.
import type { MigrationInterface, QueryRunner } from 'typeorm';

export class TokenExchange1795900000000 implements MigrationInterface {
  readonly name = 'TokenExchange1795900000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    // An index goes with its column.
    await queryRunner.query(
      'ALTER TABLE token_exchange_identity_link DROP COLUMN by_administrator, DROP COLUMN is_provisioned, DROP COLUMN account_event_at',
    );
    await queryRunner.query(
      'ALTER TABLE token_exchange_session DROP COLUMN key_thumbprint, DROP COLUMN used_at',
    );
    await queryRunner.query(
      'DROP INDEX token_exchange_identity_link_synced, token_exchange_audit_event_request',
    );
  }
}

const STATEMENTS = [
  // Whether an entry made the link that an administrator had stored.
  `ALTER TABLE token_exchange_identity_link ADD COLUMN by_administrator boolean NOT NULL DEFAULT false`,
  // Whether the user was made with the link, and when the issuer has disabled or enabled the account last, in seconds since the Unix epoch.
  `ALTER TABLE token_exchange_identity_link ADD COLUMN is_provisioned boolean NOT NULL DEFAULT false,
    ADD COLUMN account_event_at double precision`,
  // For the host that clears the digests of a user, who may have many links.
  `CREATE INDEX token_exchange_identity_link_synced ON token_exchange_identity_link (user_id) WHERE projects_digest IS NOT NULL`,
  // The session of a page is bound to its key. The least recently used sessions end first.
  `ALTER TABLE token_exchange_session ADD COLUMN key_thumbprint text,
    ADD COLUMN used_at timestamptz NOT NULL DEFAULT now()`,
  `CREATE INDEX token_exchange_audit_event_request ON token_exchange_audit_event (request_id, id)`,
];
