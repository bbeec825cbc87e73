// The port of projects, for hosts whose entries may have `projects`.
import type { Transaction } from '../../platform/database/transaction.js';

/** A project that a claim can name, with one user's membership. */
export interface HostProject {
  readonly id: string;
  /** The issuer's key of the project; null if it has none any longer. */
  readonly key: string | null;
  /** Null: the user is no member. */
  readonly member: ProjectMembership | null;
}

export interface ProjectMembership {
  readonly role: string;
  /** The role given by hand; null: the membership comes from a claim alone. */
  readonly ownRole: string | null;
  /** The issuer whose claim gives it; null: it was given by hand alone. */
  readonly issuer: string | null;
  /** Whether no other user has the highest role. */
  readonly isLastAdministrator: boolean;
}

/** The change of one membership. */
export interface ProjectChange {
  /** Undefined: the project is created, with the key as its name. */
  readonly id?: string;
  readonly key: string | null;
  /** Undefined: the user has not been a member. */
  readonly from?: string;
  /** Undefined: the user is no member any longer. */
  readonly to?: string;
  /** False: no claim gives the membership any longer. A role given by people remains. */
  readonly isClaimed: boolean;
}

/** A user whose memberships come from claims of an issuer. */
export interface ClaimingUser {
  readonly issuer: string;
  readonly userId: string;
}

export interface ProjectQuery extends Pick<ClaimingUser, 'issuer'> {
  /** Undefined: the user is still to be created. */
  readonly userId?: string;
  readonly keys: readonly string[];
  /** The maximum number of memberships by claims of all issuers to read. */
  readonly mostHeld: number;
  /** Whether to lock the other administrators of the user's projects until the transaction ends. */
  readonly isLocking: boolean;
}

/**
 * The product's projects. A key of an issuer means one project, which has no other key of that issuer. The user's row is locked before,
 * and a host locks users before projects everywhere. If anything but `change` changes or ends a membership from a claim, the host
 * sets `projects_digest` of the user's rows in `token_exchange_identity_link` to NULL; best by a trigger.
 */
export abstract class ProjectDirectory {
  /**
   * The projects of the keys, and those in which the user is a member by claims of any issuer. Must use indexes only, because
   * each new claim waits for it.
   */
  abstract find(transaction: Transaction, query: ProjectQuery): Promise<HostProject[]>;
  /**
   * Creates missing projects, then changes memberships. Parallel transactions that create one project all use the same.
   * @param changes missing projects sorted by key, so that transactions cannot deadlock
   * @returns the id of the project of each change
   */
  abstract change(
    transaction: Transaction,
    user: ClaimingUser,
    changes: readonly ProjectChange[],
  ): Promise<readonly string[]>;
}
