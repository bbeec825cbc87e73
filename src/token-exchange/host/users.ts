// The port of users, which every host must provide. The host is the product around token exchange. It implements the ports of
// this folder. host.providers.ts lists them all, with the defaults of the optional ones.
import type { Column, Sql } from '../../platform/database/sql.js';
import type { Transaction } from '../../platform/database/transaction.js';

/** The user's properties that claims fill, besides e-mail address and role. */
export const PROFILE_FIELDS = ['givenName', 'familyName'] as const;
export type ProfileField = (typeof PROFILE_FIELDS)[number];
type Profile = Readonly<Record<ProfileField, string>>;

/** The properties of a local user that this module needs. */
export interface HostUser extends Profile {
  readonly id: string;
  readonly role: string;
  readonly enabled: boolean;
  /**
   * Changes whenever the user's access ends for good: by `endAccess`, and when the host disables the user.
   * Sessions and access tokens carry the value from the moment when their login was decided. The host compares it at each use.
   * Up to 64 characters, no secret. Undefined if the host does not support it.
   */
  readonly accessGeneration?: string;
}

/** A user to be created. Password login stays off, so that only an external token can sign this user in (2.5). */
export interface NewHostUser extends Profile {
  readonly email: string;
  readonly role: string;
}

/** A user to be created, with the values that it will have. */
export interface PlannedUser extends NewHostUser {
  readonly id: string;
  readonly accessGeneration: string;
}

/** Creates users within a larger statement. */
export interface UserCreation {
  planned(user: NewHostUser): PlannedUser;
  /** The columns of a relation of planned users. */
  readonly columns: Readonly<Record<string, Column<PlannedUser>>>;
  /**
   * @param relation the planned users, with these `columns`
   * @returns common table expressions. `made` has the `id` of each created user. A planned user whose e-mail address is in use is
   * skipped
   */
  madeFrom<Input>(relation: Sql<Input>): Sql<Input>;
}

/** The changes that a login makes to a user. An undefined property keeps its stored value. */
export interface HostUserUpdate extends Partial<Profile> {
  readonly role?: string;
}

/** An external identity: its link to a user is a row of `token_exchange_identity_link`. */
export interface ExternalIdentity {
  readonly issuer: string;
  readonly subject: string;
}

/** How a user's row is locked. `update`: `FOR UPDATE` or `FOR NO KEY UPDATE`. `share`: `FOR SHARE`. */
export type UserLock = 'update' | 'share';

/** The product's users. Every method works in the given transaction. Null is treated as undefined. */
export abstract class UserDirectory {
  /** Lets concurrent first exchanges create their users in one statement. Optional: only this repository's service provides it. */
  readonly creation?: UserCreation;
  abstract findById(transaction: Transaction, id: string): Promise<HostUser | undefined>;
  /** Finds by e-mail address: case-insensitive, Unicode NFC (D4). */
  abstract findByEmail(transaction: Transaction, email: string): Promise<HostUser | undefined>;
  /** Creates a user. @returns undefined if another user already has the e-mail address */
  abstract create(transaction: Transaction, user: NewHostUser): Promise<HostUser | undefined>;
  /**
   * Reads a user and keeps others from changing it until the transaction ends.
   * @param lock `share` suffices if the user is only read, so that such transactions do not wait for one another. A host may
   * always use the stronger one
   */
  abstract lock(transaction: Transaction, id: string, lock: UserLock): Promise<HostUser | undefined>;
  abstract update(transaction: Transaction, id: string, update: HostUserUpdate): Promise<void>;
  /** Replaces the user's `accessGeneration`. If the host lacks it, users cannot be signed out everywhere. */
  endAccess?(transaction: Transaction, id: string): Promise<void>;
  /**
   * Disables an enabled user at the request of the issuer's provider. Remembers the issuer until somebody else changes the state.
   * If the host lacks it, security events only end sessions and access tokens.
   * @returns whether the user was enabled
   */
  disable?(transaction: Transaction, id: string, issuer: string): Promise<boolean>;
  /** Enables a user whom this issuer disabled, unless somebody else has changed the state since. @returns whether it did */
  enable?(transaction: Transaction, id: string, issuer: string): Promise<boolean>;
}

type Answered = HostUser | null | undefined;

/**
 * Wraps the host's users. Null, TypeORM's result for no row, becomes undefined. An invalid user throws an error that names the
 * method.
 */
export function checkedUsers(given: UserDirectory): UserDirectory {
  return {
    findById: async (transaction, id) => checked('findById', await given.findById(transaction, id)),
    findByEmail: async (transaction, email) =>
      checked('findByEmail', await given.findByEmail(transaction, email)),
    create: async (transaction, user) => checked('create', await given.create(transaction, user)),
    lock: async (transaction, id, lock) => checked('lock', await given.lock(transaction, id, lock)),
    update: (transaction, id, update) => given.update(transaction, id, update),
    endAccess: given.endAccess && (async (transaction, id) => given.endAccess?.(transaction, id)),
    disable: given.disable?.bind(given),
    enable: given.enable?.bind(given),
  };
}

/** @throws TypeError */
function checked(method: string, answer: Answered): HostUser | undefined {
  const user = answer ?? undefined;
  if (user === undefined) return undefined;
  // A host may report a missing generation as null or undefined.
  const { enabled, accessGeneration: generation } = user;
  const accessGeneration = generation ?? undefined;
  if (typeof enabled !== 'boolean') throw invalidUser(method, 'enabled must be true or false', enabled);
  if (accessGeneration !== undefined && typeof accessGeneration !== 'string')
    throw invalidUser(method, 'accessGeneration must be a string', accessGeneration);
  return generation === accessGeneration ? user : { ...user, accessGeneration };
}

function invalidUser(method: string, rule: string, found: unknown): TypeError {
  return new TypeError(`users.${method}: ${rule}, and is of type ${typeof found}`);
}
