// The keys that sign access tokens: the row and all its queries.
import { Injectable } from '@nestjs/common';
import type { JWK } from 'jose';
import { Database } from '../../platform/database/database.js';
import type { Transaction } from '../../platform/database/transaction.js';
import { managerOf } from '../../platform/database/transaction.js';
import type { SealedRow, SealedRows } from '../../platform/secrets/resealing.js';

/** When a key signs, and until when it is published. */
export interface Schedule {
  readonly signsFrom: Date;
  readonly signsUntil: Date;
  readonly publishedUntil: Date;
}

/** A signing key. It is published from its creation until its last token has expired. */
export interface SigningKey extends Schedule {
  readonly kid: string;
  readonly publicJwk: JWK;
  /** PKCS #8 DER, sealed for `signing_key:KID`. */
  readonly sealedPrivateKey: Buffer;
}

const COLUMNS = `kid, public_jwk AS "publicJwk", sealed_private_key AS "sealedPrivateKey", signs_from AS "signsFrom",
  signs_until AS "signsUntil", published_until AS "publishedUntil"`;

/** The advisory lock for creating signing keys. */
const ROTATION_LOCK = 7_236_450_103;

/** The name of the row and column for which a private key is sealed. */
export function sealedForSigningKey(kid: string): string {
  return `signing_key:${kid}`;
}

@Injectable()
export class SigningKeyRepository implements SealedRows {
  readonly sealedFor = sealedForSigningKey;

  constructor(private readonly database: Database) {}

  /** Every key that is still published, oldest first. */
  findPublished(now: Date, transaction?: Transaction): Promise<SigningKey[]> {
    const connection = transaction === undefined ? this.database.dataSource : managerOf(transaction);
    return connection.query<SigningKey[]>(
      `SELECT ${COLUMNS} FROM token_exchange_signing_key WHERE published_until > $1 ORDER BY signs_from`,
      [now],
    );
  }

  /** Makes other instances wait until this transaction ends, so that only one creates a key. */
  async lock(transaction: Transaction): Promise<void> {
    await managerOf(transaction).query('SELECT pg_advisory_xact_lock($1)', [ROTATION_LOCK]);
  }

  async insert(transaction: Transaction, key: SigningKey): Promise<void> {
    const { kid, publicJwk, sealedPrivateKey, signsFrom, signsUntil, publishedUntil } = key;
    await managerOf(transaction).query(
      `INSERT INTO token_exchange_signing_key (kid, public_jwk, sealed_private_key, signs_from, signs_until, published_until)
       VALUES ($1, $2, $3, $4, $5, $6)`,
      [kid, publicJwk, sealedPrivateKey, signsFrom, signsUntil, publishedUntil],
    );
  }

  async reschedule(
    transaction: Transaction,
    { kid, signsFrom, signsUntil, publishedUntil }: Pick<SigningKey, 'kid' | keyof Schedule>,
  ): Promise<void> {
    await managerOf(transaction).query(
      `UPDATE token_exchange_signing_key SET signs_from = $2, signs_until = $3, published_until = $4 WHERE kid = $1`,
      [kid, signsFrom, signsUntil, publishedUntil],
    );
  }

  /** Instances then generate a new key. */
  async deleteAll(transaction: Transaction): Promise<void> {
    await this.lock(transaction);
    await managerOf(transaction).query('DELETE FROM token_exchange_signing_key');
  }

  /** Uses the earlier of this process's and the database's clock. */
  async deleteUnpublished(transaction: Transaction, now: Date): Promise<void> {
    await managerOf(transaction).query(
      'DELETE FROM token_exchange_signing_key WHERE published_until <= least($1::timestamptz, clock_timestamp())',
      [now],
    );
  }

  async readSealed(afterKey = '', limit: number): Promise<SealedRow[]> {
    return this.database.background.query<SealedRow>(
      `SELECT kid AS key, sealed_private_key AS envelope FROM token_exchange_signing_key WHERE kid > $1 ORDER BY kid LIMIT $2`,
      [afterKey, limit],
    );
  }

  async replaceSealed({ key, envelope }: SealedRow, sealedPrivateKey: Buffer): Promise<boolean> {
    const changed = await this.database.background.change(
      'UPDATE token_exchange_signing_key SET sealed_private_key = $3 WHERE kid = $1 AND sealed_private_key = $2',
      [key, envelope, sealedPrivateKey],
    );
    return changed === 1;
  }

  async discardSealed({ key, envelope }: SealedRow): Promise<boolean> {
    const deleted = await this.database.background.change(
      'DELETE FROM token_exchange_signing_key WHERE kid = $1 AND sealed_private_key = $2',
      [key, envelope],
    );
    return deleted === 1;
  }
}
