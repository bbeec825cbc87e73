// The role rule and the policy of an entry stand in code, for users who need a change, and in SQL, for those who need none: both come to one end.
import { randomUUID } from 'node:crypto';
import { AuditBus } from '../../src/token-exchange/audit/audit.bus.js';
import { CommitRepository } from '../../src/token-exchange/flows/commit.repository.js';
import { CommitService } from '../../src/token-exchange/flows/commit.service.js';
import { TokenExchangeService } from '../../src/token-exchange/flows/token-exchange.service.js';
import { IssuancePlanner } from '../../src/token-exchange/flows/issuance.planner.js';
import { EntryThrottleService } from '../../src/token-exchange/flows/entry-throttle.service.js';
import { IdentityService } from '../../src/token-exchange/users/identity.service.js';
import { Notices } from '../../src/token-exchange/flows/notices.js';
import { Rejection } from '../../src/token-exchange/rejection.js';
import { Revocations } from '../../src/token-exchange/revocation/revocations.js';
import { ExternalTokenVerifier } from '../../src/token-exchange/verify/external-token.verifier.js';
import type { AuditRow } from '../support/audit.js';
import { describeOnEachDatabase } from '../support/databases.js';
import type { Random } from '../support/random.js';
import { randomFrom } from '../support/random.js';
import { TestClock } from '../support/test-clock.js';
import { sendBeside } from '../support/flow-requests.js';
import { TestService } from '../support/test-service.js';
import type { PartyCase, UserBefore } from './support/role-cases.js';
import { ISSUERS, claimsOf, endOf, isAccepted, randomParty } from './support/role-cases.js';

const SEED = 44;
const ROUNDS = 12;
/** They are sent at once, and share statements. */
const REQUESTS_PER_ROUND = 30;

/** The parties of one request, the subject first. */
type Request = readonly PartyCase[];

/** All that is left of a request. Users and events are told by the party that they are of. */
interface Trace {
  readonly outcome: string;
  readonly users: readonly unknown[];
  readonly events: readonly unknown[];
  readonly warned: readonly boolean[];
}

/** One way of exchanging tokens, with identities that no other way has. */
class Way {
  private readonly requestIds = new Map<Request, string>();

  constructor(
    private readonly name: string,
    private readonly service: TestService,
    private readonly clock: TestClock,
    private readonly exchanges: TokenExchangeService,
  ) {}

  /** Makes the users of requests, sends all requests at once, and tells what is left of each. */
  async traces(requests: readonly Request[]): Promise<Trace[]> {
    for (const request of requests) this.requestIds.set(request, randomUUID());
    await this.makeUsers(
      requests.flatMap((request) => request.map((_, index) => this.userBefore(request, index))),
    );
    const outcomes = await Promise.all(requests.map((request) => this.exchange(request)));
    const warned = this.warnedUsers();
    return Promise.all(requests.map((request, index) => this.trace(request, outcomes[index] ?? '', warned)));
  }

  private async exchange(request: Request): Promise<string> {
    const iat = Math.floor(this.clock.nowSeconds());
    const [subjectToken = '', actorToken] = request.map((party, index) =>
      party.issuer.partner.sign({ ...claimsOf(party, this.subOf(request, index)), iat, exp: iat + 50 }),
    );
    const requestId = this.requestIdOf(request);
    try {
      await sendBeside(this.service, { flow: 'exchange', requestId }, (sent) =>
        this.exchanges.exchange({ subjectToken, actorToken }, sent),
      );
      return 'issued';
    } catch (error) {
      if (error instanceof Rejection) return error.reason;
      throw error;
    }
  }

  private async trace(request: Request, outcome: string, warned: ReadonlySet<unknown>): Promise<Trace> {
    const users = await Promise.all(request.map((_, index) => this.userAfter(request, index)));
    const rows = await this.service.rows<AuditRow>(
      'SELECT name, subject_user_id, actor_user_id, payload FROM audit_event WHERE request_id = $1 ORDER BY id',
      [this.requestIdOf(request)],
    );
    const ids = users.map((user) => user?.id);
    const partyOf = (id: unknown) => (ids.includes(id as string) ? ids.indexOf(id as string) : id);
    const events = rows.map(({ name, subject_user_id: subject, actor_user_id: actor, payload }) => ({
      name: name.slice(name.lastIndexOf('.') + 1),
      subject: partyOf(subject),
      actor: partyOf(actor),
      payload: {
        ...payload,
        ...('userId' in payload ? { userId: partyOf(payload['userId']) } : {}),
        ...('accessTokenId' in payload ? { accessTokenId: 'new' } : {}),
      },
    }));
    const states = users.map((user) => user?.state);
    return { outcome, users: states, events, warned: ids.map((id) => warned.has(id)) };
  }

  /** The ids of the users of whom the operator was told that a claim was ignored. */
  private warnedUsers(): ReadonlySet<unknown> {
    const warnings = this.service.log.filter(({ msg }) => String(msg).includes('a role claim was ignored'));
    return new Set(warnings.map(({ userId }) => userId));
  }

  private requestIdOf(request: Request): string {
    return this.requestIds.get(request) ?? '';
  }

  private subOf(request: Request, index: number): string {
    return `${index}-${this.name}-${this.requestIdOf(request)}`;
  }

  private emailOf(request: Request, index: number): string {
    const { partner } = request[index]!.issuer;
    return String(partner.claims({ sub: this.subOf(request, index) })['email']);
  }

  private userBefore(request: Request, index: number) {
    const { before, issuer } = request[index]!;
    const [sub, email] = [this.subOf(request, index), this.emailOf(request, index)];
    return { ...before, email, issuer: issuer.partner.issuer, sub };
  }

  private async makeUsers(users: readonly { role?: string }[]): Promise<void> {
    const existing = users.filter(({ role }) => role !== undefined);
    await this.service.rows(
      `WITH made AS (
         SELECT * FROM json_to_recordset($1) AS made (id uuid, email text, issuer text, sub text, role text,
           enabled boolean, "givenName" text, "familyName" text, "isLinked" boolean)
       ), account AS (
         INSERT INTO user_account (id, email, normalized_email, given_name, family_name, role, enabled)
         SELECT id, email, email, "givenName", "familyName", role, enabled FROM made
       )
       INSERT INTO token_exchange_identity_link (issuer, subject, user_id) SELECT issuer, sub, id FROM made WHERE "isLinked"`,
      [JSON.stringify(existing.map((user) => ({ ...user, id: randomUUID() })))],
    );
  }

  private async userAfter(
    request: Request,
    index: number,
  ): Promise<{ id: string; state: object } | undefined> {
    const [row] = await this.service.rows<{ id: string }>(
      `SELECT id, role, given_name AS "givenName", family_name AS "familyName", enabled,
         (SELECT count(*)::int FROM token_exchange_identity_link WHERE user_id = user_account.id) AS links
       FROM user_account WHERE normalized_email = $1`,
      [this.emailOf(request, index)],
    );
    if (row === undefined) return undefined;
    const { id, ...state } = row;
    return { id, state };
  }
}

function randomRequest(random: Random): Request {
  return random.below(3) === 0 ? [randomParty(random), randomParty(random)] : [randomParty(random)];
}

/** The parts of a trace that the table tells. Of several parties the one whose identity sorts first is resolved first. */
function expected(request: Request): object {
  const ends = request.map((party, index) => ({
    end: endOf(party),
    sortKey: `${party.issuer.partner.issuer} ${index}`,
  }));
  const inOrder = ends.toSorted((one, other) => (one.sortKey < other.sortKey ? -1 : 1));
  for (const { end } of inOrder) {
    if (isAccepted(end)) continue;
    const users = request.map(({ before }) => before && stored(before, before.isLinked));
    return { outcome: end.refusal, users, names: ['failed'] };
  }
  const accepted = ends.map(({ end }) => end).filter(isAccepted);
  return {
    outcome: 'issued',
    users: accepted.map((end) => stored({ ...end, enabled: true }, true)),
    names: [...accepted.flatMap(({ changes }) => changes), 'succeeded'],
    warned: accepted.map(({ isWarned }) => isWarned),
  };
}

/** A party without its keys. */
function shown({ issuer: { policy }, ...party }: PartyCase): object {
  return { policy, ...party };
}

function stored(user: Omit<UserBefore, 'isLinked'>, isLinked: boolean): object {
  const { role, givenName, familyName, enabled } = user;
  return { role, givenName, familyName, enabled, links: isLinked ? 1 : 0 };
}

function told({ outcome, users, events, warned }: Trace): object {
  const names = events.map((event) => (event as { name: string }).name);
  return { outcome, users, names, ...(outcome === 'issued' ? { warned } : {}) };
}

describeOnEachDatabase('[4.4.4] what a role claim does', (database) => {
  const clock = new TestClock();
  let service: TestService;
  let short: Way;
  let long: Way;

  beforeAll(async () => {
    const trustedKeys = ISSUERS.map(({ partner, policy }) => partner.staticEntry({ ...policy }));
    service = await TestService.start(database, { trustedKeys, clock });
    // An instance has one owner; here many stand at once for that one.
    await service.rows('DROP INDEX user_account_single_owner');
    const shared = service.part(CommitRepository);
    const transactionAlone = Object.assign(Object.create(shared) as CommitRepository, {
      writesEvents: false,
    });
    short = new Way('short', service, clock, exchangeBy(shared));
    long = new Way('long', service, clock, exchangeBy(transactionAlone));
  });
  afterAll(() => service.stop());

  const exchangeBy = (commits: CommitRepository) =>
    new TokenExchangeService(
      service.part(ExternalTokenVerifier),
      service.part(Revocations),
      service.part(EntryThrottleService),
      service.part(IssuancePlanner),
      new CommitService(service.part(IdentityService), commits, service.part(AuditBus)),
      service.part(Notices),
    );

  it('[4.4.role.4][4.4.role.5][4.4.role.6][P.roleCeiling][P.excludeOwner] comes to one end by settling and by resolving: that of the table', async () => {
    const random = randomFrom(SEED);
    for (let round = 0; round < ROUNDS; round++) {
      const requests = Array.from({ length: REQUESTS_PER_ROUND }, () => randomRequest(random));
      const [byShort, byLong] = [await short.traces(requests), await long.traces(requests)];
      for (const [index, request] of requests.entries()) {
        const which = { seed: SEED, round, index, parties: request.map(shown) };
        expect([which, byShort[index]]).toEqual([which, byLong[index]]);
        expect([which, told(byLong[index]!)]).toEqual([which, expected(request)]);
      }
    }
  }, 60_000);
});
