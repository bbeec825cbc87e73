// Credentials: the entity and all its queries.
import { Injectable } from '@nestjs/common';
import { Column, DataSource, Entity, MoreThan, PrimaryColumn } from 'typeorm';
import type { Transaction } from '../../platform/database/transaction.js';
import { managerOf } from '../../platform/database/transaction.js';
import type { SealedRow, SealedRows } from '../../platform/secrets/resealing.js';
import type { PageRange } from '../api/pages.js';

/** A credential. Its data is stored only in sealed form. */
@Entity('credential')
export class Credential {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('uuid', { name: 'project_id' })
  projectId!: string;

  @Column('varchar', { length: 128 })
  name!: string;

  @Column('text')
  type!: string;

  /** JSON, sealed for `credential:ID`. */
  @Column('bytea', { name: 'sealed_data' })
  sealedData!: Buffer;

  @Column('timestamptz', { name: 'created_at', default: () => 'now()' })
  createdAt!: Date;

  @Column('timestamptz', { name: 'updated_at', default: () => 'now()' })
  updatedAt!: Date;
}

/** The public properties of a credential, with its project. */
export interface CredentialRow extends Pick<Credential, 'id' | 'name' | 'type' | 'createdAt' | 'updatedAt'> {
  readonly projectId: string;
  readonly projectName: string;
  readonly projectType: string;
}

type NewCredential = Pick<Credential, 'id' | 'projectId' | 'name' | 'type' | 'sealedData'>;
export type CredentialChange = Partial<Pick<Credential, 'name' | 'type' | 'sealedData'>>;

/**
 * Does not read the sealed data. Each row's project is read by its key: a join might read all projects, and
 * LIMIT 1 keeps PostgreSQL from turning this into one.
 */
export const CREDENTIAL_PAGE = `SELECT shown.id, shown.name, shown.type, shown.created_at AS "createdAt",
    shown.updated_at AS "updatedAt", project.id AS "projectId", project.name AS "projectName",
    project.type AS "projectType"
  FROM (
    SELECT c.id, c.project_id, c.name, c.type, c.created_at, c.updated_at FROM credential c
    WHERE c.id > $1 ORDER BY c.id LIMIT $2
  ) shown CROSS JOIN LATERAL (
    SELECT p.id, p.name, p.type FROM project p WHERE p.id = shown.project_id LIMIT 1
  ) project ORDER BY shown.id`;

const BEFORE_ALL_IDS = '00000000-0000-0000-0000-000000000000';

/**
 * Identifies the row and column for which data is sealed: an envelope that was moved to another credential
 * cannot be unsealed (D45).
 */
export function sealedForCredential(id: string): string {
  return `credential:${id}`;
}

@Injectable()
export class CredentialRepository implements SealedRows {
  readonly sealedFor = sealedForCredential;

  constructor(private readonly dataSource: DataSource) {}

  /** A page of all credentials of the instance, sorted by id. */
  list({ afterId = BEFORE_ALL_IDS, limit }: PageRange): Promise<CredentialRow[]> {
    return this.dataSource.query<CredentialRow[]>(CREDENTIAL_PAGE, [afterId, limit]);
  }

  async find(id: string): Promise<CredentialRow | undefined> {
    const rows = await this.dataSource.query<CredentialRow[]>(
      `SELECT c.id, c.name, c.type, c.created_at AS "createdAt", c.updated_at AS "updatedAt",
        p.id AS "projectId", p.name AS "projectName", p.type AS "projectType"
       FROM credential c JOIN project p ON p.id = c.project_id WHERE c.id = $1`,
      [id],
    );
    return rows[0];
  }

  /** @throws QueryFailedError with a foreign key violation if the project was deleted */
  async insert(transaction: Transaction, credential: NewCredential): Promise<void> {
    await managerOf(transaction).insert(Credential, credential);
  }

  /** Reads a credential and locks it until the end of the transaction. */
  async lock(transaction: Transaction, id: string): Promise<Credential | undefined> {
    const options = { where: { id }, lock: { mode: 'pessimistic_write' as const } };
    return (await managerOf(transaction).findOne(Credential, options)) ?? undefined;
  }

  async update(transaction: Transaction, id: string, change: CredentialChange): Promise<void> {
    await managerOf(transaction).update(Credential, { id }, { ...change, updatedAt: () => 'now()' });
  }

  async delete(id: string): Promise<void> {
    await this.dataSource.manager.delete(Credential, { id });
  }

  async readSealed(afterKey = BEFORE_ALL_IDS, limit: number): Promise<SealedRow[]> {
    const rows = await this.dataSource.manager.find(Credential, {
      select: { id: true, sealedData: true },
      where: { id: MoreThan(afterKey) },
      order: { id: 'ASC' },
      take: limit,
    });
    return rows.map(({ id, sealedData }) => ({ key: id, envelope: sealedData }));
  }

  /** Does not change `updatedAt`: the credential is the same for its users. */
  async replaceSealed({ key, envelope }: SealedRow, sealedData: Buffer): Promise<boolean> {
    const unchanged = { id: key, sealedData: envelope };
    const { affected } = await this.dataSource.manager.update(Credential, unchanged, { sealedData });
    return affected === 1;
  }

  async discardSealed({ key, envelope }: SealedRow): Promise<boolean> {
    const unchanged = { id: key, sealedData: envelope };
    const { affected } = await this.dataSource.manager.delete(Credential, unchanged);
    return affected === 1;
  }
}
