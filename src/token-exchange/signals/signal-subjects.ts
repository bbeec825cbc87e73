// Whom an event means: external identities of the issuer whose logins its transmitter may end, and what it does to their users.
import { Inject, Injectable } from '@nestjs/common';
import type { Transaction } from '../../platform/database/transaction.js';
import type { ExternalIdentity } from '../host/users.js';
import { UserDirectory } from '../host/users.js';
import { IdentityLinkRepository } from '../identity/identity-link.repository.js';
import { isPrivileged } from '../identity/role-policy.js';
import type { TokenExchangeOptions } from '../settings/token-exchange.options.js';
import { TOKEN_EXCHANGE_OPTIONS } from '../settings/token-exchange.options.js';
import { TrustedKeyService } from '../trust/lookup/trusted-key.service.js';
import type { UserSubject } from './security-event.js';
import type { Transmitter } from './transmitters.js';

export interface NamedIdentity extends ExternalIdentity {
  /** Undefined if the identity is linked to no user. */
  readonly userId: string | undefined;
}

@Injectable()
export class SignalSubjects {
  constructor(
    private readonly links: IdentityLinkRepository,
    private readonly users: UserDirectory,
    private readonly keys: TrustedKeyService,
    @Inject(TOKEN_EXCHANGE_OPTIONS) private readonly options: Pick<TokenExchangeOptions, 'roles'>,
  ) {}

  /**
   * @rule D147 A transmitter names users of its issuer only: by `iss` and `sub`, by a linked id, or by an e-mail address for which an
   * entry of that issuer may find users.
   */
  async find(
    transaction: Transaction,
    { issuer: transmitter, loginIssuer: issuer = transmitter }: Transmitter,
    user: UserSubject | undefined,
  ): Promise<readonly NamedIdentity[]> {
    if (user?.format === 'email') return this.findByEmail(transaction, issuer, user.email);
    if (user === undefined || (user.format === 'iss_sub' && ![issuer, transmitter].includes(user.iss)))
      return [];
    const subject = user.format === 'opaque' ? user.id : user.sub;
    const userId = (await this.links.find(transaction, { issuer, subject }))?.userId;
    return user.format === 'opaque' && userId === undefined ? [] : [{ issuer, subject, userId }];
  }

  private async findByEmail(
    transaction: Transaction,
    issuer: string,
    email: string,
  ): Promise<readonly NamedIdentity[]> {
    if (!this.keys.vouchesFor(issuer, email)) return [];
    const userId = (await this.users.findByEmail(transaction, email))?.id;
    if (userId === undefined) return [];
    const subjects = await this.links.subjectsOf(transaction, issuer, userId);
    return subjects.map((subject) => ({ issuer, subject, userId }));
  }

  /**
   * Disables or enables the user of an identity.
   * D147: a transmitter disables only users whom its issuer has provisioned and who are not privileged, and enables only whom it
   * has disabled. Of two events the later one counts, whichever comes first; of the same second the one that disables.
   * @param at when it happened, in seconds since the Unix epoch
   * @returns whether the user was changed
   */
  async switch(
    transaction: Transaction,
    { userId, ...identity }: NamedIdentity,
    enabled: boolean,
    at: number,
  ): Promise<boolean> {
    const user = userId === undefined ? undefined : await this.users.lock(transaction, userId, 'update');
    if (user === undefined) return false;
    const isProvisioned = await this.links.noteAccountEvent(transaction, identity, user.id, { at, enabled });
    if (!isProvisioned || isPrivileged(user.role, this.options.roles)) return false;
    const { id } = user;
    const isChanged = enabled
      ? await this.users.enable?.(transaction, id, identity.issuer)
      : await this.users.disable?.(transaction, id, identity.issuer);
    return isChanged === true;
  }
}
