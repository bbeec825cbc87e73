// Users and links as they would be after what was decided so far, without any of it being done.
import type { Transaction } from '../../platform/database/transaction.js';
import { composed } from '../../platform/text/characters.js';
import type { HostProject, ProjectDirectory, ProjectQuery } from '../host/projects.js';
import type { ExternalIdentity, HostUser, UserDirectory } from '../host/users.js';
import type { UserDecision } from '../users/decide.js';
import { identityOf } from '../users/decide.js';
import type { IdentityLinkRepository } from '../users/identity-link.repository.js';
import type { VerifiedToken } from '../verify/external-token.verifier.js';

/** The prefix of ids of users that do not exist yet: no host has such ids. */
const NOT_MADE = 'to be made: ';

/**
 * Actor and subject of one exchange are resolved one after the other, and the second may be whom the first has left behind:
 * the same user by another identity, or by the same e-mail address.
 */
export class ForeseenUsers {
  /** Ids of users by identity. */
  private readonly links = new Map<string, string>();
  /** Users by id, as they would be. */
  private readonly changed = new Map<string, HostUser>();
  /** Ids of users to be made, by normalized e-mail address. */
  private readonly made = new Map<string, string>();

  constructor(
    private readonly storedLinks: Pick<IdentityLinkRepository, 'findUserId' | 'findProjectsDigest'>,
    private readonly storedUsers: Pick<UserDirectory, 'findById' | 'findByEmail'>,
    private readonly storedProjects?: Pick<ProjectDirectory, 'find'>,
  ) {}

  async findUserId(transaction: Transaction, identity: ExternalIdentity): Promise<string | undefined> {
    return this.links.get(keyOf(identity)) ?? this.storedLinks.findUserId(transaction, identity);
  }

  async findById(transaction: Transaction, id: string): Promise<HostUser | undefined> {
    return this.changed.get(id) ?? this.storedUsers.findById(transaction, id);
  }

  async findByEmail(transaction: Transaction, email: string): Promise<HostUser | undefined> {
    const id =
      this.made.get(normalized(email)) ?? (await this.storedUsers.findByEmail(transaction, email))?.id;
    return id === undefined ? undefined : this.findById(transaction, id);
  }

  findProjectsDigest(
    transaction: Transaction,
    identity: ExternalIdentity,
  ): Promise<string | null | undefined> {
    return this.storedLinks.findProjectsDigest(transaction, identity);
  }

  /** Memberships as they are stored: what the other token of an exchange would change of them is not seen. */
  async find(transaction: Transaction, query: ProjectQuery): Promise<HostProject[]> {
    const isMade = query.userId?.startsWith(NOT_MADE) === true;
    const stored = { ...query, userId: isMade ? undefined : query.userId };
    return (await this.storedProjects?.find(transaction, stored)) ?? [];
  }

  /** From now on it is as if this had been done. */
  foresee(token: VerifiedToken, decision: UserDecision): void {
    const user = this.userAfter(decision);
    this.links.set(keyOf(identityOf(token)), user.id);
    this.changed.set(user.id, user);
  }

  private userAfter(decision: UserDecision): HostUser {
    if (decision.by !== 'provisioning') return { ...decision.user, ...decision.update };
    const { email, role, givenName, familyName } = decision.newUser;
    const id = `${NOT_MADE}${this.made.size + 1}`;
    this.made.set(normalized(email), id);
    return { id, enabled: true, role, givenName, familyName };
  }
}

/** The id of a user who is there; null for one who would have to be made. */
export function storedIdOf({ id }: HostUser): string | null {
  return id.startsWith(NOT_MADE) ? null : id;
}

function keyOf({ issuer, subject }: ExternalIdentity): string {
  return JSON.stringify([issuer, subject]);
}

/** As D4 has a host compare addresses. */
function normalized(email: string): string {
  return composed(composed(email).toLowerCase());
}
