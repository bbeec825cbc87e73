// The keys that sign access tokens: the entity and all its queries.
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { JWK } from 'jose';
import { Column, Entity, MoreThan, PrimaryColumn, Repository } from 'typeorm';
import type { Transaction } from '../database/transaction.js';
import { managerOf } from '../database/transaction.js';
import type { SealedRow, SealedRows } from '../sealing/resealing.js';

/** A signing key: it signs for a while, and is published from its making until the last token it signed has expired. */
@Entity('signing_key')
export class SigningKey {
  @PrimaryColumn('text')
  kid!: string;

  @Column('jsonb', { name: 'public_jwk' })
  publicJwk!: JWK;

  /** PKCS #8 DER, sealed for `signing_key:KID`. */
  @Column('bytea', { name: 'sealed_private_key' })
  sealedPrivateKey!: Buffer;

  @Column('timestamptz', { name: 'signs_from' })
  signsFrom!: Date;

  @Column('timestamptz', { name: 'signs_until' })
  signsUntil!: Date;

  @Column('timestamptz', { name: 'published_until' })
  publishedUntil!: Date;
}

/** Names "the making of signing keys" among a database's advisory locks. */
const ROTATION_LOCK = 7_236_450_103;

/** Names the row and column that a private key is sealed for. */
export function sealedForSigningKey(kid: string): string {
  return `signing_key:${kid}`;
}

@Injectable()
export class SigningKeyRepository implements SealedRows {
  readonly sealedFor = sealedForSigningKey;

  constructor(@InjectRepository(SigningKey) private readonly keys: Repository<SigningKey>) {}

  /** Every key that is still published, oldest first. */
  findPublished(now: Date, transaction?: Transaction): Promise<SigningKey[]> {
    const keys = transaction === undefined ? this.keys : managerOf(transaction).getRepository(SigningKey);
    return keys.find({ where: { publishedUntil: MoreThan(now) }, order: { signsFrom: 'ASC' } });
  }

  /** Makes other instances wait until this transaction has ended, so that one of them makes a key. */
  async lock(transaction: Transaction): Promise<void> {
    await managerOf(transaction).query('SELECT pg_advisory_xact_lock($1)', [ROTATION_LOCK]);
  }

  async insert(transaction: Transaction, key: SigningKey): Promise<void> {
    await managerOf(transaction).insert(SigningKey, key);
  }

  async deleteUnpublished(transaction: Transaction, now: Date): Promise<void> {
    await managerOf(transaction).query('DELETE FROM signing_key WHERE published_until <= $1', [now]);
  }

  async readSealed(afterKey = '', limit: number): Promise<SealedRow[]> {
    const rows = await this.keys.find({
      where: { kid: MoreThan(afterKey) },
      order: { kid: 'ASC' },
      take: limit,
    });
    return rows.map(({ kid, sealedPrivateKey }) => ({ key: kid, envelope: sealedPrivateKey }));
  }

  async replaceSealed({ key, envelope }: SealedRow, sealedPrivateKey: Buffer): Promise<boolean> {
    const unchanged = { kid: key, sealedPrivateKey: envelope };
    const { affected } = await this.keys.update(unchanged, { sealedPrivateKey });
    return affected === 1;
  }
}
