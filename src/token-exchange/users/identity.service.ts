// Finds the local users of verified tokens: by what is known of them, or in a transaction, which may link, make and change them.
import { Inject, Injectable, Optional } from '@nestjs/common';
import type { Transaction } from '../../platform/database/transaction.js';
import { ProjectDirectory } from '../host/projects.js';
import { UserDirectory } from '../host/users.js';
import type { SubjectOrActor } from '../refusals/rejection.js';
import { Rejection, withRejectionContext } from '../refusals/rejection.js';
import type { TokenExchangeOptions } from '../settings/token-exchange.options.js';
import { TOKEN_EXCHANGE_OPTIONS } from '../settings/token-exchange.options.js';
import type { VerifiedToken } from '../verify/external-token.verifier.js';
import { issuerAndKid } from '../verify/external-token.verifier.js';
import type { PerToken, Tokens } from '../verify/tokens.js';
import { listOf } from '../verify/tokens.js';
import type { ResolvedUser } from './apply.js';
import { applyDecision, resolvedUser } from './apply.js';
import { readCandidates } from './candidates.js';
import { changesNothing, decide, identityOf } from './decide.js';
import { IdentityLinkRepository } from './identity-link.repository.js';
import type { KnownUser } from './known-users.js';
import { KnownUsers } from './known-users.js';

/** A user whom a token signs in as they are, by what is known of them. */
export interface ExpectedUser {
  readonly user: KnownUser;
  readonly resolved: ResolvedUser;
}

@Injectable()
export class IdentityService {
  constructor(
    private readonly known: KnownUsers,
    private readonly links: IdentityLinkRepository,
    private readonly users: UserDirectory,
    @Inject(TOKEN_EXCHANGE_OPTIONS) private readonly options: Pick<TokenExchangeOptions, 'roles'>,
    @Optional() private readonly projects?: ProjectDirectory,
  ) {}

  /** Undefined where a user is not known, or by what is known something is to be written or refused. */
  async expect({ subject, actor }: Tokens): Promise<PerToken<ExpectedUser> | undefined> {
    const expected = await this.expectOne(subject);
    if (expected === undefined) return undefined;
    if (actor === undefined) return { subject: expected };
    const expectedActor = await this.expectOne(actor);
    return expectedActor && { subject: expected, actor: expectedActor };
  }

  /** Forgets what is known of the users, which was out of date or is by now. */
  forget(tokens: Tokens): void {
    for (const token of listOf(tokens)) this.known.forget(identityOf(token));
  }

  /**
   * Decides on the users as they are stored, and applies it.
   * @throws Rejection when identity, e-mail, role or the user's state forbid it
   * @throws LostRaceError when a parallel request won; the transaction is to be run again
   */
  async resolve(transaction: Transaction, { subject, actor }: Tokens): Promise<PerToken<ResolvedUser>> {
    const resolveActor = async () => actor && (await this.resolveOne(transaction, actor, 'actor'));
    const first = isActorFirst({ subject, actor }) ? await resolveActor() : undefined;
    const resolved = await this.resolveOne(transaction, subject, 'subject');
    return { subject: resolved, actor: first ?? (await resolveActor()) };
  }

  private async expectOne(token: VerifiedToken): Promise<ExpectedUser | undefined> {
    const user = await this.known.find(identityOf(token));
    if (user === undefined) return undefined;
    try {
      const projects = { digest: user.projectsDigest };
      const decision = decide(token, { linked: user, projects }, this.options.roles);
      if (!changesNothing(decision)) return undefined;
      return { user, resolved: resolvedUser(decision, [], this.options.roles) };
    } catch (error) {
      if (error instanceof Rejection) return undefined;
      throw error;
    }
  }

  private resolveOne(
    transaction: Transaction,
    token: VerifiedToken,
    which: SubjectOrActor,
  ): Promise<ResolvedUser> {
    const { links, users, projects } = this;
    const { roles } = this.options;
    return withRejectionContext({ party: which, ...issuerAndKid(token) }, async () => {
      const candidates = await readCandidates(transaction, token, { links, users, projects });
      const decision = decide(token, candidates, roles);
      const { deletedUserId } = candidates;
      if (deletedUserId !== undefined) await links.forget(transaction, identityOf(token), deletedUserId);
      return applyDecision(transaction, token, decision, { links, users, roles, projects });
    });
  }
}

/**
 * Whether the actor is resolved before the subject. The identity that sorts first is resolved first, so that two exchanges whose
 * subjects and actors act for each other lock rows in one order.
 */
export function isActorFirst({ subject, actor }: Tokens): boolean {
  return actor !== undefined && sortKeyOf(actor) < sortKeyOf(subject);
}

function sortKeyOf({ claims: { iss, sub } }: VerifiedToken): string {
  return JSON.stringify([iss, sub]);
}
