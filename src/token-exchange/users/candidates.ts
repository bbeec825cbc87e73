// Reads the stored users that a token may mean.
import type { Transaction } from '../../platform/database/transaction.js';
import type { UserDirectory } from '../host/users.js';
import type { VerifiedToken } from '../verify/external-token.verifier.js';
import { linkableEmail } from './admission-policy.js';
import type { Candidates } from './decide.js';
import { identityOf } from './decide.js';
import type { IdentityLinkRepository } from './identity-link.repository.js';

/** Where users and links are read. */
export interface StoredUsers {
  readonly links: Pick<IdentityLinkRepository, 'findUserId'>;
  readonly users: Pick<UserDirectory, 'findById' | 'findByEmail'>;
}

/**
 * Locks nothing.
 * @throws Rejection where no user is linked and the e-mail address is none to look for
 */
export async function readCandidates(
  transaction: Transaction,
  token: VerifiedToken,
  { links, users }: StoredUsers,
): Promise<Candidates> {
  const userId = await links.findUserId(transaction, identityOf(token));
  const linked = userId === undefined ? undefined : await users.findById(transaction, userId);
  if (linked !== undefined) return { linked };
  const email = linkableEmail(token.claims, token.key.policy);
  return { deletedUserId: userId, withEmail: await users.findByEmail(transaction, email) };
}
