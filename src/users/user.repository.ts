// Local users: the entity, all its queries, and every write of role and state.
import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Column, Entity, In, MoreThan, PrimaryColumn } from 'typeorm';
import type { Batch } from '../platform/database/database.js';
import { Database } from '../platform/database/database.js';
import type { Sql } from '../platform/database/sql.js';
import {
  givenRows,
  parameter,
  PreparedStatement,
  SharedStatement,
  sql,
  writtenSql,
} from '../platform/database/sql.js';
import type { Transaction } from '../platform/database/transaction.js';
import { answerIn, managerOf, runIn } from '../platform/database/transaction.js';
import { composed } from '../platform/text/characters.js';
import { domainOfAddress } from '../platform/text/email-address.js';
import type { HostUserUpdate, NewHostUser } from '../token-exchange/index.js';
import type { PlannedUser, UserCreation } from '../token-exchange/instance.js';
import type { GlobalRole } from './role.js';
import { OPERATOR_ROLES } from './role.js';

/**
 * @rule D4 E-mail addresses are compared case-insensitively, in Unicode NFC, with the domain in ASCII. See
 * `normalized_email` in user.repository.ts: its unique constraint prevents a second spelling. Normalized
 * again after lower-casing, which can decompose a letter. An invalid domain stays as it is.
 */
export function normalizeEmail(email: string): string {
  const text = composed(composed(email).toLowerCase());
  const domain = domainOfAddress(email);
  return domain === undefined ? text : `${text.slice(0, text.lastIndexOf('@') + 1)}${domain}`;
}

export abstract class PersonalProjects {
  /** Common table expressions that insert the personal project of the user in `made`, so that one statement creates both. */
  abstract readonly insertForCreated: Sql;
}

export abstract class OperatorSessions {
  /** @returns the number of deleted sessions */
  abstract deleteOfUser(transaction: Transaction, userId: string): Promise<number>;
}

@Entity('user_account')
export class User {
  @PrimaryColumn('uuid')
  id!: string;

  /** The original spelling; comparisons use `normalizedEmail`. */
  @Column('text')
  email!: string;

  @Column('text', { name: 'normalized_email', unique: true })
  normalizedEmail!: string;

  @Column('varchar', { name: 'given_name', length: 32 })
  givenName!: string;

  @Column('varchar', { name: 'family_name', length: 32 })
  familyName!: string;

  @Column('text')
  role!: GlobalRole;

  @Column('boolean')
  enabled!: boolean;

  @Column('boolean', { name: 'password_login_enabled' })
  passwordLoginEnabled!: boolean;

  /** Incremented when access ends for good: sessions and tokens with an earlier value are refused. Opaque. */
  @Column('bigint', { name: 'access_generation', default: 0 })
  accessGeneration!: string;

  /** The issuer whose security event has disabled the user; null if something else did, and then no issuer can enable the user. */
  @Column('text', { name: 'disabled_by', nullable: true, select: false })
  disabledBy?: string | null;

  @Column('timestamptz', { name: 'created_at', default: () => 'now()' })
  createdAt!: Date;

  @Column('timestamptz', { name: 'updated_at', default: () => 'now()' })
  updatedAt!: Date;
}

export type NewUser = Pick<User, keyof NewHostUser>;

/** The properties of a user that may change after its creation. */
export type UserChange = Partial<Pick<User, keyof HostUserUpdate | 'enabled'>>;

const COLUMNS = sql`id, email, normalized_email AS "normalizedEmail", given_name AS "givenName",
        family_name AS "familyName", role, enabled, password_login_enabled AS "passwordLoginEnabled",
        access_generation::text AS "accessGeneration", created_at AS "createdAt", updated_at AS "updatedAt"`;

const ASKED = givenRows('asked', (ids: readonly string[]) => ids, { id: ['uuid', (id) => id] }, 'position');

/** One row per id, in the given order; a row of nulls for an unknown id. */
const FIND = new SharedStatement(
  'user_account_find',
  sql`SELECT found.* FROM ${ASKED} LEFT JOIN LATERAL (
      SELECT ${COLUMNS}
      FROM user_account WHERE user_account.id = asked.id LIMIT 1
    ) found ON true ORDER BY asked.position`,
  (rows: readonly (User | Record<keyof User, null>)[]) =>
    rows.map((row) => (row.id === null ? undefined : row)),
);

const FIND_BY_EMAIL = new PreparedStatement<string, User>(
  'user_account_find_by_email',
  sql`SELECT ${COLUMNS} FROM user_account WHERE normalized_email = ${parameter('text', normalizeEmail)}`,
);

/** The generation is the default of its column. */
function planned(user: NewHostUser): PlannedUser {
  return { ...user, id: randomUUID(), accessGeneration: '0' };
}

/**
 * Creates users with their personal projects, also within a larger statement.
 * @rule D47 A user has a personal project from the moment of its creation. Every new user is created here. See
 * the first migration for the index that allows one owner.
 * @rule 2.5.2 A user that is created here has password login disabled.
 */
const creationWith = (personalProjects: PersonalProjects): UserCreation => ({
  planned,
  columns: {
    id: ['uuid', ({ id }) => id],
    email: ['text', ({ email }) => email],
    normalized_email: ['text', ({ email }) => normalizeEmail(email)],
    given_name: ['text', ({ givenName }) => givenName],
    family_name: ['text', ({ familyName }) => familyName],
    role: ['text', ({ role }) => role],
  },
  // Sorted, so that two statements do not wait for each other.
  madeFrom: (relation) => sql`made AS (
    INSERT INTO user_account (id, email, normalized_email, given_name, family_name, role)
    SELECT id, email, normalized_email, given_name, family_name, role FROM ${relation} ORDER BY normalized_email
    ON CONFLICT (normalized_email) DO NOTHING RETURNING *
  ), ${personalProjects.insertForCreated}`,
});

const insertionBy = (creation: UserCreation) => {
  const newcomer = givenRows('newcomer', (user: NewUser) => [planned(user)], creation.columns);
  return new PreparedStatement<NewUser, User>(
    'user_account_create',
    sql`WITH ${creation.madeFrom(newcomer)} SELECT ${COLUMNS} FROM made`,
  );
};

/** Sorts after every character of an address. */
const LAST_CHARACTER = String.fromCodePoint(0x10ffff);

@Injectable()
export class UserRepository {
  readonly creation: UserCreation;
  private readonly finds: Batch<string, User | undefined>;
  private readonly insertion: PreparedStatement<NewUser, User>;

  constructor(
    private readonly database: Database,
    personalProjects: PersonalProjects,
    private readonly operatorSessions: OperatorSessions,
  ) {
    this.finds = database.share(FIND);
    this.creation = creationWith(personalProjects);
    this.insertion = insertionBy(this.creation);
  }

  async findById(id: string, transaction?: Transaction): Promise<User | undefined> {
    return transaction === undefined ? this.finds.add(id) : answerIn(transaction, FIND, id);
  }

  /** Reads a user and locks its row until the transaction ends. */
  async lock(id: string, transaction: Transaction): Promise<User | undefined> {
    return (await this.lockAll([id], transaction))[0];
  }

  /**
   * Reads a user and prevents changes until the transaction ends. Other transactions may hold the same lock.
   */
  async lockShared(id: string, transaction: Transaction): Promise<User | undefined> {
    const lock = { mode: 'pessimistic_read' } as const;
    return (await managerOf(transaction).findOne(User, { where: { id }, lock })) ?? undefined;
  }

  /**
   * Reads users and locks their rows until the transaction ends, in the order of their ids, so that there are
   * no deadlocks. Rows that refer to them (sessions, links) can still be added, because the keys do not
   * change.
   */
  lockAll(ids: readonly string[], transaction: Transaction): Promise<User[]> {
    const lock = { mode: 'for_no_key_update' } as const;
    return managerOf(transaction).find(User, { where: { id: In([...ids]) }, order: { id: 'ASC' }, lock });
  }

  async findByEmail(email: string, transaction?: Transaction): Promise<User | undefined> {
    const asked =
      transaction === undefined
        ? this.database.run(FIND_BY_EMAIL, email)
        : runIn(transaction, FIND_BY_EMAIL, email);
    return (await asked)[0];
  }

  list(afterId: string | undefined, limit: number): Promise<User[]> {
    const where = afterId === undefined ? {} : { id: MoreThan(afterId) };
    return this.database.dataSource.manager.find(User, { where, order: { id: 'ASC' }, take: limit });
  }

  /**
   * A page of users whose e-mail address has a prefix, sorted by the bytes of the address, which has an index
   * for this.
   * @param afterEmail a normalized address; only later ones are returned
   */
  search(beginning: string, afterEmail: string | undefined, limit: number): Promise<User[]> {
    const pattern = normalizeEmail(beginning);
    return this.database.dataSource.query<User[]>(
      `SELECT ${writtenSql(COLUMNS).text} FROM user_account
       WHERE normalized_email ~>=~ $1 AND normalized_email ~<~ $2 AND starts_with(normalized_email, $3)
         AND ($4::text IS NULL OR normalized_email <> $4)
       ORDER BY normalized_email USING ~<~ LIMIT $5`,
      [afterEmail ?? pattern, `${pattern}${LAST_CHARACTER}`, pattern, afterEmail ?? null, limit],
    );
  }

  /**
   * Creates a user with a personal project.
   * @returns undefined if the e-mail address is taken, which the unique constraint decides
   */
  async create(transaction: Transaction, user: NewUser): Promise<User | undefined> {
    const [made] = await runIn(transaction, this.insertion, user);
    return made;
  }

  /**
   * The user's creation time as a string with microseconds: the time of the transaction that created the
   * user.
   */
  async creationTime(id: string, transaction: Transaction): Promise<string> {
    const [user] = await managerOf(transaction).query<{ time: string }[]>(
      'SELECT created_at::text AS time FROM user_account WHERE id = $1',
      [id],
    );
    return user?.time ?? 'infinity';
  }

  async idsOfRoles(roles: readonly GlobalRole[], transaction: Transaction): Promise<string[]> {
    const users = await managerOf(transaction).query<{ id: string }[]>(
      'SELECT id::text AS id FROM user_account WHERE role = ANY ($1)',
      [roles],
    );
    return users.map(({ id }) => id);
  }

  async enablePasswordLogin(id: string, transaction: Transaction): Promise<void> {
    await managerOf(transaction).query(
      'UPDATE user_account SET password_login_enabled = true, updated_at = now() WHERE id = $1 AND NOT password_login_enabled',
      [id],
    );
  }

  async update(id: string, change: UserChange, transaction: Transaction): Promise<void> {
    const manager = managerOf(transaction);
    const disabledBy = change.enabled === undefined ? {} : { disabledBy: null };
    await manager.update(User, { id }, { ...change, ...disabledBy, updatedAt: () => 'now()' });
    if (isEndOfOperator(change)) await this.operatorSessions.deleteOfUser(transaction, id);
  }

  /** Disables an enabled user for an issuer. @returns false if the user was already disabled, by anyone */
  async disableFor(issuer: string, id: string, transaction: Transaction): Promise<boolean> {
    const user = await this.lock(id, transaction);
    if (user?.enabled !== true) return false;
    await this.update(id, { enabled: false }, transaction);
    await managerOf(transaction).update(User, { id }, { disabledBy: issuer });
    return true;
  }

  /** Enables a user whom this issuer disabled, unless somebody else has changed the state since. @returns whether it did */
  async enableFor(issuer: string, id: string, transaction: Transaction): Promise<boolean> {
    const enabled = { enabled: true, disabledBy: null, updatedAt: () => 'now()' };
    const { affected } = await managerOf(transaction).update(User, { id, disabledBy: issuer }, enabled);
    return affected === 1;
  }

  /** Deletes a user and, through the schema's cascades, everything that belongs to that user alone. */
  async delete(id: string, transaction: Transaction): Promise<void> {
    await managerOf(transaction).delete(User, { id });
  }

  /**
   * Ends all sessions and access tokens of a user for good. If a user is disabled, the trigger
   * `user_account_disabled` does this. See the row `access_generation` in architecture.md for each
   * comparison.
   */
  async endAccess(transaction: Transaction, id: string): Promise<void> {
    await managerOf(transaction).query(
      'UPDATE user_account SET access_generation = access_generation + 1 WHERE id = $1',
      [id],
    );
  }
}

/**
 * Whether the change ends the user's operator sessions: an operator who regains access later must sign in
 * again. The rule is here because API, commands and tokens change role and state. See
 * operator-session.repository.ts for users who were changed by other means.
 */
function isEndOfOperator({ enabled, role }: UserChange): boolean {
  return enabled === false || (role !== undefined && !OPERATOR_ROLES.includes(role));
}
