// What users make that has a limit, and how much of it there may be.

/** The most of each kind that one owner may have: a project, and for `projects` a user; each 1 or more. */
export interface QuotaLimits {
  readonly workflows: number;
  readonly credentials: number;
  readonly members: number;
  /** What the workflows and credentials of a project take in the database. */
  readonly bytes: number;
  /** The memberships of a user, that of the personal project included. */
  readonly projects: number;
}

export type QuotaKind = keyof QuotaLimits;
