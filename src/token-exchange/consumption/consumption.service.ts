// Uses up the tokens of a request, for both flows.
import { Injectable } from '@nestjs/common';
import type { AuditEvent } from '../../audit/audit-event.js';
import type { SettledUsers } from '../host.js';
import { Settlements } from '../host.js';
import { IdentityService } from '../identity/identity.service.js';
import { withRejectionContext } from '../rejection.js';
import type { VerifiedToken } from '../verification/external-token.verifier.js';
import { originOf } from '../verification/external-token.verifier.js';
import { JtiRepository } from './jti.repository.js';

/** The verified tokens of one request. */
export interface Parties {
  readonly subject: VerifiedToken;
  readonly actor?: VerifiedToken;
}

@Injectable()
export class ConsumptionService {
  constructor(
    private readonly jtis: JtiRepository,
    private readonly settlements: Settlements,
    private readonly identities: IdentityService,
  ) {}

  /**
   * Uses up the ids of the tokens, all or none. Users who need no change are found by the same statement, and the events
   * written with it.
   * @param events what the audit trail will tell of the request, but for its users
   * @returns the users; undefined when one of them is still to be resolved: then nothing is written but the ids
   * @throws Rejection `token_replayed`
   */
  consume(parties: Parties, events: readonly AuditEvent[]): Promise<SettledUsers | undefined> {
    return withRejectionContext(originOf(parties.subject), () => this.settleOrConsume(parties, events));
  }

  private async settleOrConsume(
    { subject, actor }: Parties,
    events: readonly AuditEvent[],
  ): Promise<SettledUsers | undefined> {
    const tokens = actor === undefined ? [subject] : [subject, actor];
    const uses = tokens.map(({ claims }) => claims);
    const [user, actingUser] = tokens.map((token) => this.identities.expectation(token));
    const areExpected = user !== undefined && (actor === undefined || actingUser !== undefined);
    if (areExpected) return this.settlements.settle({ uses, subject: user, actor: actingUser, events });
    await this.jtis.consume(uses);
    return undefined;
  }
}
