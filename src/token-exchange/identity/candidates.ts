// Reads the stored users that a token may mean.
import type { Transaction } from '../../platform/database/transaction.js';
import type { ProjectDirectory } from '../host/projects.js';
import type { UserDirectory } from '../host/users.js';
import type { StoredProjects } from '../projects/project-policy.js';
import { MAX_CLAIMED_MEMBERSHIPS } from '../projects/project-policy.js';
import type { TrustedKeyService } from '../trust/lookup/trusted-key.service.js';
import type { VerifiedToken } from '../verify/external-token.verifier.js';
import { linkableEmail } from './admission-policy.js';
import type { Candidates } from './decide.js';
import { identityOf } from './decide.js';
import type { IdentityLinkRepository } from './identity-link.repository.js';
import type { SeatRepository } from './seat.repository.js';

/** Where users and links are read. */
export interface StoredUsers {
  readonly links: Pick<IdentityLinkRepository, 'find'>;
  readonly users: Pick<UserDirectory, 'findById' | 'findByEmail'>;
  /** Undefined if the host has none. */
  readonly projects?: Pick<ProjectDirectory, 'find'>;
}

/** Where seats are read. */
interface StoredSeats {
  readonly seats: Pick<SeatRepository, 'takenWithout'>;
  readonly keys: Pick<TrustedKeyService, 'maxUsersOf'>;
}

/**
 * Reads the users without locks.
 * @throws OAuthRefusal if no user is linked and the e-mail address may not be used
 */
export async function readCandidates(
  transaction: Transaction,
  token: VerifiedToken,
  stored: StoredUsers,
): Promise<Candidates> {
  const { links, users, projects } = stored;
  const { signInAs } = token.key.policy;
  if (signInAs !== undefined) return { named: await users.findById(transaction, signInAs) };
  const link = await links.find(transaction, identityOf(token));
  const linked = link && (await users.findById(transaction, link.userId));
  if (link !== undefined && linked !== undefined) {
    const of = { userId: linked.id, digest: link.projectsDigest };
    const { byAdministrator } = link;
    return { linked, byAdministrator, projects: await readProjects(transaction, token, projects, of) };
  }
  const email = linkableEmail(token.claims, token.key.policy);
  const withEmail = await users.findByEmail(transaction, email);
  const ofOther = await readProjects(transaction, token, projects, { userId: withEmail?.id });
  return { deletedUserId: link?.userId, withEmail, projects: ofOther };
}

/** The number of seats of the issuer; undefined: any number, or the user is known and needs none. */
export function seatLimit(
  { key: { policy }, claims: { iss } }: VerifiedToken,
  { linked }: Candidates,
  { keys }: Pick<StoredSeats, 'keys'>,
): number | undefined {
  return linked === undefined && policy.signInAs === undefined ? keys.maxUsersOf(iss) : undefined;
}

/** Adds the seats of the issuer if the user needs one. */
export async function withSeats(
  transaction: Transaction,
  token: VerifiedToken,
  candidates: Candidates,
  stored: StoredSeats,
): Promise<Candidates> {
  const most = seatLimit(token, candidates, stored);
  if (most === undefined) return candidates;
  const { withEmail } = candidates;
  const taken = await stored.seats.takenWithout(transaction, {
    ...identityOf(token),
    userId: withEmail?.id,
    most,
  });
  return taken === undefined ? candidates : { ...candidates, seats: { most, taken } };
}

/** Whose projects are read, and whether they are locked until the transaction ends. */
interface ProjectsOf extends Pick<StoredProjects, 'digest'> {
  /** Undefined: the user is still to be created. */
  readonly userId?: string;
  readonly isLocking?: boolean;
}

/** Reads nothing for a token without the claim. */
export async function readProjects(
  transaction: Transaction,
  token: VerifiedToken,
  directory: StoredUsers['projects'],
  { userId, digest, isLocking = false }: ProjectsOf,
): Promise<StoredProjects> {
  const { iss: issuer, projects: claimed } = token.claims;
  if (claimed === undefined || directory === undefined) return {};
  const keys = claimed.map(({ key }) => key);
  // One more than the maximum shows that there are too many.
  const query = { issuer, userId, keys, isLocking, mostHeld: MAX_CLAIMED_MEMBERSHIPS + 1 };
  return { digest, projects: await directory.find(transaction, query) };
}
