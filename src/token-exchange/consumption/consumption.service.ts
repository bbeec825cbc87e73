// Uses up the tokens of a request, for both flows.
import { Injectable, Optional } from '@nestjs/common';
import type { AuditEvent } from '../audit/audit-event.js';
import type { PreparedSession } from '../host/session-opener.js';
import type { Newcomer, Provisioned, Settled, SettledLogin } from '../host/settlements.js';
import { Settlements } from '../host/settlements.js';
import type { ResolvedUser } from '../identity/identity.service.js';
import { IdentityService } from '../identity/identity.service.js';
import type { RejectionContext } from '../rejection.js';
import { withRejectionContext } from '../rejection.js';
import type { VerifiedToken } from '../verification/external-token.verifier.js';
import { issuerAndKid } from '../verification/external-token.verifier.js';
import { JtiRepository } from './jti.repository.js';
import { PlainSettlements } from './plain-settlements.js';

/** The verified tokens of one request. */
export interface Parties {
  readonly subject: VerifiedToken;
  readonly actor?: VerifiedToken;
}

@Injectable()
export class ConsumptionService {
  private readonly settlements: Settlements;

  constructor(
    private readonly jtis: JtiRepository,
    private readonly identities: IdentityService,
    @Optional() settlements?: Settlements,
  ) {
    this.settlements = settlements ?? new PlainSettlements(jtis);
  }

  /**
   * Uses up the ids of the tokens, all or none. Users who need no change are found by the same statement, and the events
   * written with it: then the request is settled.
   * @param events what the audit trail will tell of the request, but for its users
   * @throws Rejection `token_replayed`
   */
  consume(parties: Parties, events: readonly AuditEvent[]): Promise<Settled> {
    return withRejectionContext(
      () => usedUp(parties),
      () => this.settleOrConsume(parties, events),
    );
  }

  /**
   * The same for a login. Its session is opened with it where there is one that needs no more than a row, and the host can.
   * @param event what the audit trail will tell of the login, but for its user
   * @throws Rejection `token_replayed`
   */
  async consumeLogin(
    subject: VerifiedToken,
    session: PreparedSession | undefined,
    event: AuditEvent,
  ): Promise<SettledLogin> {
    const user = this.identities.expectation(subject);
    const { settlements } = this;
    if (session === undefined || user === undefined || settlements.settleLogin === undefined)
      return { ...(await this.consume({ subject }, [])), isOpened: false };
    const login = { ...session, uses: [subject.claims], subject: user, events: [event] };
    return withRejectionContext(issuerAndKid(subject), () => settlements.settleLogin!(login));
  }

  /**
   * Makes the user of a token that is used up, where nobody is known by its identity or its address.
   * @param eventsOf what the audit trail is told of it
   * @returns undefined where nobody was made, and nothing has happened: `IdentityService.resolve` finds out why
   */
  async provision(
    token: VerifiedToken,
    eventsOf: (resolved: ResolvedUser) => ReturnType<Newcomer['eventsOf']>,
  ): Promise<Provisioned | undefined> {
    const { settlements } = this;
    const newcomer = settlements.provision && this.identities.newcomer(token);
    if (newcomer === undefined) return undefined;
    const { role } = newcomer.user;
    return settlements.provision?.({
      ...newcomer,
      eventsOf: (userId) => eventsOf({ userId, changes: [{ kind: 'user-provisioned', userId, role }] }),
    });
  }

  private async settleOrConsume(
    { subject, actor }: Parties,
    events: readonly AuditEvent[],
  ): Promise<Settled> {
    const tokens = actor === undefined ? [subject] : [subject, actor];
    const uses = tokens.map(({ claims }) => claims);
    const [user, actingUser] = tokens.map((token) => this.identities.expectation(token));
    const areExpected = user !== undefined && (actor === undefined || actingUser !== undefined);
    if (areExpected) return this.settlements.settle({ uses, subject: user, actor: actingUser, events });
    await this.jtis.consume(uses);
    return { isSettled: false };
  }
}

/** The statement does not tell which of two tokens it was. */
function usedUp({ subject, actor }: Parties): RejectionContext {
  if (actor === undefined) return issuerAndKid(subject);
  return { ...issuerAndKid(subject), detail: 'it was the subject token, the actor token, or both' };
}
