// Finds the local users of verified tokens in a transaction, which may link, make and change them.
import { Inject, Injectable, Optional } from '@nestjs/common';
import type { Transaction } from '../../platform/database/transaction.js';
import { ProjectDirectory } from '../host/projects.js';
import { UserDirectory } from '../host/users.js';
import type { SubjectOrActor } from '../refusals/rejection.js';
import { withRejectionContext } from '../refusals/rejection.js';
import type { TokenExchangeOptions } from '../settings/token-exchange.options.js';
import { TOKEN_EXCHANGE_OPTIONS } from '../settings/token-exchange.options.js';
import type { VerifiedToken } from '../verify/external-token.verifier.js';
import { issuerAndKid } from '../verify/external-token.verifier.js';
import type { Tokens } from '../verify/tokens.js';
import type { ResolvedUser, Users } from './decide.js';
import { applyDecision } from './apply.js';
import { readCandidates } from './candidates.js';
import { isActorFirst, decide, identityOf } from './decide.js';
import { IdentityLinkRepository } from './identity-link.repository.js';

@Injectable()
export class IdentityService {
  constructor(
    private readonly links: IdentityLinkRepository,
    private readonly users: UserDirectory,
    @Inject(TOKEN_EXCHANGE_OPTIONS) private readonly options: Pick<TokenExchangeOptions, 'roles'>,
    @Optional() private readonly projects?: ProjectDirectory,
  ) {}

  /**
   * Decides on the users as they are stored, and applies it.
   * @throws Rejection when identity, e-mail, role or the user's state forbid it
   * @throws LostRaceError when a parallel request won; the transaction is to be run again
   */
  async resolve(transaction: Transaction, { subject, actor }: Tokens): Promise<Users> {
    const resolveActor = async () => actor && (await this.resolveOne(transaction, actor, 'actor'));
    const first = isActorFirst({ subject, actor }) ? await resolveActor() : undefined;
    const resolved = await this.resolveOne(transaction, subject, 'subject');
    return { subject: resolved, actor: first ?? (await resolveActor()) };
  }

  private resolveOne(
    transaction: Transaction,
    token: VerifiedToken,
    party: SubjectOrActor,
  ): Promise<ResolvedUser> {
    const { links, users, projects } = this;
    const { roles } = this.options;
    return withRejectionContext({ party, ...issuerAndKid(token) }, async () => {
      const candidates = await readCandidates(transaction, token, { links, users, projects });
      const decision = decide(token, candidates, roles);
      const { deletedUserId } = candidates;
      if (deletedUserId !== undefined) await links.forget(transaction, identityOf(token), deletedUserId);
      return applyDecision(transaction, token, decision, { links, users, roles, projects });
    });
  }
}
