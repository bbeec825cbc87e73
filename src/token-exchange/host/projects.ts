// The port of projects, for hosts whose entries may have `projects`. A host without projects does not bring it.
import type { Transaction } from '../../platform/database/transaction.js';

/** A project that a claim can mean, with the membership of one user. */
export interface HostProject {
  readonly id: string;
  /** The issuer's key of it; null where it has none any longer. */
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
  /** Whether the user is the only one with the highest role. */
  readonly isLastAdministrator: boolean;
}

/** What becomes of one membership. */
export interface ProjectChange {
  /** Undefined: the project is made, with the key as its name. */
  readonly id?: string;
  readonly key: string | null;
  /** Undefined: the user has not been a member. */
  readonly from?: string;
  /** Undefined: the user is no member any longer. */
  readonly to?: string;
  /** False: no claim gives the membership any longer, and what people have given remains of it. */
  readonly isClaimed: boolean;
}

/** A user whose memberships come from claims of an issuer. */
export interface ClaimingUser {
  readonly issuer: string;
  readonly userId: string;
}

export interface ProjectQuery extends Pick<ClaimingUser, 'issuer'> {
  /** Undefined: the user is to be made. */
  readonly userId?: string;
  readonly keys: readonly string[];
  /** The most memberships by claims to be read, those of all issuers together. */
  readonly mostHeld: number;
  /** Whether the projects that the user administers keep their other administrators until the transaction ends. */
  readonly isLocking: boolean;
}

/**
 * The product's projects. A key of an issuer means one project, which has no other key of that issuer. The user's row is locked before,
 * and a host locks users before projects everywhere. Where anything else than `change` changes or ends a membership that came from a claim,
 * the host sets `projects_digest` of the user's rows in `token_exchange_identity_link` to NULL; best by a trigger.
 */
export abstract class ProjectDirectory {
  /**
   * The projects of the keys, and those in which the user is a member by claims of any issuer. Reads by indexes alone: each new claim
   * waits for it.
   */
  abstract find(transaction: Transaction, query: ProjectQuery): Promise<HostProject[]>;
  /**
   * Changes memberships, after it has made the projects that are missing: of parallel transactions that make one, all use the same.
   * @param changes those of projects that are missing in the order of their keys, so that none waits for another in a ring
   * @returns the id of the project of each change
   */
  abstract change(
    transaction: Transaction,
    user: ClaimingUser,
    changes: readonly ProjectChange[],
  ): Promise<readonly string[]>;
}
