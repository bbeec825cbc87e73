// Decides which local user a verified token means, and what it changes of them: by reading alone, for whoever then does it.
import { Inject, Injectable } from '@nestjs/common';
import type { Transaction } from '../../platform/database/transaction.js';
import { firstCharacters } from '../../platform/text/characters.js';
import type { ExternalIdentity, HostUser, HostUserUpdate, NewHostUser } from '../host/users.js';
import { UserDirectory } from '../host/users.js';
import { Rejection } from '../rejection.js';
import type { TokenExchangeOptions } from '../token-exchange.options.js';
import { TOKEN_EXCHANGE_OPTIONS } from '../token-exchange.options.js';
import type { VerifiedToken } from '../verification/external-token.verifier.js';
import { judgeEmail, judgeLink, judgeProvisioning, judgeStoredRole } from './admission-policy.js';
import { IdentityLinkRepository } from './identity-link.repository.js';
import { roleOfExistingUser, roleOfNewUser } from './role-policy.js';

/** By what a user who is there was found. */
export type FoundBy = 'link' | 'email';

/** A user who is there and may come in. */
export interface FoundUser {
  readonly by: FoundBy;
  /** As they are stored. */
  readonly user: HostUser;
  /** What the claims change of them. */
  readonly update: HostUserUpdate;
  /** Whether a role claim is not heard, since it names no role that can be assigned. */
  readonly ignoresRoleClaim: boolean;
}

/** A user whom nobody has yet. */
export interface UserToBeMade {
  readonly by: 'provisioning';
  readonly newUser: NewHostUser;
}

/** What resolving a token comes to. */
export type IdentityDecision = (FoundUser | UserToBeMade) & {
  /** Whom the identity was linked to, where the host has deleted that user. */
  readonly goneUserId?: string;
};

const MAX_NAME_CHARACTERS = 32;

@Injectable()
export class IdentityDecider {
  constructor(
    @Inject(IdentityLinkRepository) private readonly links: Pick<IdentityLinkRepository, 'findUserId'>,
    @Inject(UserDirectory) private readonly users: Pick<UserDirectory, 'findById' | 'findByEmail'>,
    @Inject(TOKEN_EXCHANGE_OPTIONS) private readonly options: Pick<TokenExchangeOptions, 'roles'>,
  ) {}

  /**
   * Decides by what is stored at this moment; nothing is locked, so who is to be changed is judged again under a lock.
   * @rule 4.4.1 A linked identity is its user; where the host has deleted that user, it is unknown again.
   * @throws Rejection when identity, e-mail, role or the user's state forbid it
   */
  async decide(transaction: Transaction, token: VerifiedToken): Promise<IdentityDecision> {
    const userId = await this.links.findUserId(transaction, identityOf(token));
    if (userId === undefined) return this.decideByEmail(transaction, token);
    const user = await this.users.findById(transaction, userId);
    if (user !== undefined) return this.judge('link', token, user);
    return { ...(await this.decideByEmail(transaction, token)), goneUserId: userId };
  }

  /** @rule 4.4.2 An unknown identity is linked to the user who has its e-mail address. */
  private async decideByEmail(transaction: Transaction, token: VerifiedToken): Promise<IdentityDecision> {
    const email = judgeEmail(token.claims, token.key.policy);
    const user = await this.users.findByEmail(transaction, email);
    return user === undefined ? this.newUser(token, email) : this.judge('email', token, user);
  }

  /** Who is made of a token, if nobody is known by its identity or its address; undefined where nobody may be. */
  newcomer(token: VerifiedToken): NewHostUser | undefined {
    try {
      return this.newUser(token, judgeEmail(token.claims, token.key.policy)).newUser;
    } catch (error) {
      if (error instanceof Rejection) return undefined;
      throw error;
    }
  }

  /** @rule 4.4.3 Nobody else having the e-mail address, a new user is made. */
  private newUser({ claims, key }: VerifiedToken, email: string): UserToBeMade {
    const { givenName = '', familyName = '' } = claims;
    judgeProvisioning(key.policy);
    const role = roleOfNewUser(claims.role, key.policy, this.options.roles);
    const names = { givenName: truncated(givenName), familyName: truncated(familyName) };
    return { by: 'provisioning', newUser: { email, role, ...names } };
  }

  /**
   * Judges a user who is there, and tells what the claims change of them.
   * @rule 4.4.4 A valid role claim wins over the stored role at every login.
   * @throws Rejection where the user may not be linked, or not come in
   */
  judge(by: FoundBy, { claims, key: { policy } }: VerifiedToken, user: HostUser): FoundUser {
    const { roles } = this.options;
    if (by === 'email') judgeLink(user, policy, roles);
    refuseDisabled(user);
    judgeStoredRole(user, policy, roles);
    const role = roleOfExistingUser(user.role, claims.role, policy, roles);
    const update = {
      ...(role.kind === 'change' ? { role: role.role } : {}),
      ...changedName('givenName', claims.givenName, user),
      ...changedName('familyName', claims.familyName, user),
    };
    return { by, user, update, ignoresRoleClaim: role.kind === 'ignore-claim' };
  }
}

export function identityOf({ claims: { iss, sub } }: VerifiedToken): ExternalIdentity {
  return { issuer: iss, subject: sub };
}

/** A name as it is stored. */
export function truncated(name: string): string {
  return firstCharacters(name, MAX_NAME_CHARACTERS);
}

/** For subject and actor of both flows alike (D7). */
function refuseDisabled({ enabled, id: userId }: HostUser): void {
  if (!enabled)
    throw new Rejection('user_disabled', {
      userId,
      expected: 'a user who is enabled',
      found: 'a disabled one',
    });
}

/** @rule 2.5.3 Names are cut to 32 characters and written only where they differ. */
function changedName(
  name: 'givenName' | 'familyName',
  claim: string | undefined,
  user: HostUser,
): HostUserUpdate {
  if (claim === undefined) return {};
  const value = truncated(claim);
  return value === user[name] ? {} : { [name]: value };
}
