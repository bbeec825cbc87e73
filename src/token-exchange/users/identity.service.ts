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

/** What a request comes to where its users are still as they are known: they sign in as they are, or it is refused. */
export interface Expected {
  readonly users: PerToken<KnownUser>;
  readonly result: PerToken<ResolvedUser> | Rejection;
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

  /** Undefined where a user is not known, or by what is known something is to be written. */
  async expect(tokens: Tokens): Promise<Expected | undefined> {
    const users = await this.findKnown(tokens);
    if (users === undefined) return undefined;
    try {
      const result = this.resolveKnown(tokens, users);
      return result && { users, result };
    } catch (error) {
      if (!(error instanceof Rejection)) throw error;
      // Which projects there are is not known.
      const haveProjects = listOf(tokens).some(({ claims }) => claims.projects !== undefined);
      return haveProjects ? undefined : { users, result: error };
    }
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

  private async findKnown({ subject, actor }: Tokens): Promise<PerToken<KnownUser> | undefined> {
    const known = await this.known.find(identityOf(subject));
    if (known === undefined || actor === undefined) return known && { subject: known };
    const knownActor = await this.known.find(identityOf(actor));
    return knownActor && { subject: known, actor: knownActor };
  }

  /**
   * As `resolve`, in the same order. The second token is not decided on where the first changes something: both may be of one user,
   * who is another then.
   */
  private resolveKnown(
    { subject, actor }: Tokens,
    known: PerToken<KnownUser>,
  ): PerToken<ResolvedUser> | undefined {
    const resolveSubject = () => this.resolveKnownOne(subject, known.subject, 'subject');
    const resolveActor = () => actor && known.actor && this.resolveKnownOne(actor, known.actor, 'actor');
    if (isActorFirst({ subject, actor })) {
      const first = resolveActor();
      const second = first && resolveSubject();
      return second && { subject: second, actor: first };
    }
    const first = resolveSubject();
    if (first === undefined || actor === undefined) return first && { subject: first };
    const second = resolveActor();
    return second && { subject: first, actor: second };
  }

  private resolveKnownOne(
    token: VerifiedToken,
    user: KnownUser,
    which: SubjectOrActor,
  ): ResolvedUser | undefined {
    const { roles } = this.options;
    try {
      const decision = decide(token, { linked: user, projects: { digest: user.projectsDigest } }, roles);
      return changesNothing(decision) ? resolvedUser(decision, [], roles) : undefined;
    } catch (error) {
      if (error instanceof Rejection) error.add({ party: which, ...issuerAndKid(token) });
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
