// Random requests come to one outcome, answer and trail: with remembered users, with users that are looked up, and in a transaction.
// Users, tokens, policies and changes of users in between are random, by both flows; without a change the outcome is that of the role table.
import { randomUUID } from 'node:crypto';
import { AuditBus } from '../../src/token-exchange/audit/audit.bus.js';
import { CommitRepository } from '../../src/token-exchange/flows/commit.repository.js';
import { CommitService } from '../../src/token-exchange/flows/commit.service.js';
import { TokenExchangeService } from '../../src/token-exchange/flows/token-exchange.service.js';
import { IssuancePlanner } from '../../src/token-exchange/flows/issuance.planner.js';
import { EntryThrottleService } from '../../src/token-exchange/flows/entry-throttle.service.js';
import type { Flow } from '../../src/token-exchange/host/flow.js';
import { EmbeddedLoginService } from '../../src/token-exchange/flows/embedded-login.service.js';
import { SessionService } from '../../src/token-exchange/sessions/session.service.js';
import { KnownUsers } from '../../src/token-exchange/users/known-users.js';
import { sizeOf } from '../support/series.js';
import { IdentityService } from '../../src/token-exchange/users/identity.service.js';
import { Notices } from '../../src/token-exchange/flows/notices.js';
import { Rejection } from '../../src/token-exchange/refusals/rejection.js';
import { Revocations } from '../../src/token-exchange/revocation/revocations.js';
import { ExternalTokenVerifier } from '../../src/token-exchange/verify/external-token.verifier.js';
import { digestOf } from '../../src/token-exchange/verify/projects-claim.js';
import type { AuditRow } from '../support/audit.js';
import { describeOnEachDatabase } from '../support/databases.js';
import type { Random } from '../support/random.js';
import { randomFrom } from '../support/random.js';
import { TestClock } from '../support/test-clock.js';
import { sendBeside } from '../support/flow-requests.js';
import { TestService } from '../support/test-service.js';
import type { PartyCase, UserBefore } from './support/role-cases.js';
import { ISSUERS, claimsOf, endOf, isAccepted, keyOf, randomParty, roleIn } from './support/role-cases.js';

const SEED = 44;
/** The whole of it: `npm run test:long -- role-rule`. */
const ROUNDS = sizeOf({ small: 12, whole: 334 });
/** They are sent at once, and share statements. */
const REQUESTS_PER_ROUND = 30;

/** By another connection, after the user was remembered and before the request is sent. */
const CHANGES = {
  disable: 'UPDATE user_account SET enabled = false WHERE normalized_email = $1',
  promote: `UPDATE user_account SET role = 'global:admin' WHERE normalized_email = $1`,
  demote: `UPDATE user_account SET role = 'global:member' WHERE normalized_email = $1`,
  member: `UPDATE project_member SET role = 'project:admin' WHERE issuer IS NOT NULL
    AND user_id = (SELECT id FROM user_account WHERE normalized_email = $1)`,
  leave: `DELETE FROM project_member WHERE issuer IS NOT NULL
    AND user_id = (SELECT id FROM user_account WHERE normalized_email = $1)`,
  rename: `UPDATE user_account SET given_name = 'Other' WHERE normalized_email = $1`,
  unlink: `DELETE FROM token_exchange_identity_link WHERE user_id = (SELECT id FROM user_account WHERE normalized_email = $1)`,
  delete: 'DELETE FROM user_account WHERE normalized_email = $1',
};

interface Request {
  readonly flow: Flow;
  /** The subject first. */
  readonly parties: readonly PartyCase[];
  /** Of the user of which party. */
  readonly change?: { readonly kind: keyof typeof CHANGES; readonly index: number };
}

/** The services of one way, and whether it remembers users before they change. */
interface Services {
  readonly exchanges: TokenExchangeService;
  readonly logins: EmbeddedLoginService;
  readonly remembered?: KnownUsers;
}

/** All that is left of a request. Users and events are told by the party that they are of. */
interface Trace {
  readonly outcome: string;
  readonly users: readonly unknown[];
  readonly events: readonly unknown[];
  readonly warned: readonly boolean[];
}

/** One way to commit, with identities that no other way has. */
class Way {
  private readonly requestIds = new Map<Request, string>();

  constructor(
    private readonly name: string,
    private readonly service: TestService,
    private readonly clock: TestClock,
    private readonly services: Services,
  ) {}

  /** Makes the users of requests, sends all requests at once, and tells what is left of each. */
  async traces(requests: readonly Request[]): Promise<Trace[]> {
    for (const request of requests) this.requestIds.set(request, randomUUID());
    await this.makeUsers(
      requests.flatMap((request) => request.parties.map((_, index) => this.userBefore(request, index))),
    );
    await Promise.all(requests.map((request) => this.remember(request)));
    await Promise.all(requests.map((request) => this.change(request)));
    const outcomes = await Promise.all(requests.map((request) => this.send(request)));
    const warned = this.warnedUsers();
    return Promise.all(requests.map((request, index) => this.trace(request, outcomes[index] ?? '', warned)));
  }

  private async remember(request: Request): Promise<void> {
    for (const [index, { issuer }] of request.parties.entries())
      await this.services.remembered?.find({
        issuer: issuer.partner.issuer,
        subject: this.subOf(request, index),
      });
  }

  private async change(request: Request): Promise<void> {
    if (request.change === undefined) return;
    const { kind, index } = request.change;
    await this.service.rows(CHANGES[kind], [this.emailOf(request, index)]);
  }

  private async send(request: Request): Promise<string> {
    const iat = Math.floor(this.clock.nowSeconds());
    const [subjectToken = '', actorToken] = request.parties.map((party, index) =>
      party.issuer.partner.sign({ ...claimsOf(party, this.subOf(request, index)), iat, exp: iat + 50 }),
    );
    const requestId = this.requestIdOf(request);
    const { exchanges, logins } = this.services;
    const source = { method: 'POST', origin: undefined, fetchSite: undefined } as const;
    try {
      await sendBeside<unknown>(this.service, { flow: request.flow, requestId }, (sent) =>
        request.flow === 'embed'
          ? logins.login({ token: subjectToken, source, cookies: undefined }, sent)
          : exchanges.exchange({ subjectToken, actorToken }, sent),
      );
      return 'issued';
    } catch (error) {
      if (error instanceof Rejection) return error.reason;
      throw error;
    }
  }

  private async trace(request: Request, outcome: string, warned: ReadonlySet<unknown>): Promise<Trace> {
    const users = await Promise.all(request.parties.map((_, index) => this.userAfter(request, index)));
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
        ...countsOf(payload),
        ...(String(payload['found']).startsWith(keyOf('')) ? { found: 'its key' } : {}),
        ...('accessTokenId' in payload ? { accessTokenId: 'new' } : {}),
        ...('sessionFamilyId' in payload ? { sessionFamilyId: 'new' } : {}),
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
    const { partner } = request.parties[index]!.issuer;
    return String(partner.claims({ sub: this.subOf(request, index) })['email']);
  }

  private userBefore(request: Request, index: number) {
    const { before, issuer, hasProject } = request.parties[index]!;
    const { membership, ...user } = before ?? {};
    const [sub, email] = [this.subOf(request, index), this.emailOf(request, index)];
    const key = hasProject || membership ? keyOf(sub) : null;
    const claimed = membership?.claimed;
    const { mayAssign, roles } = issuer.policy.projects ?? {};
    const powers = { mayAssign: new Set(mayAssign), roles: new Set(roles) };
    const project = {
      ...{ projectId: randomUUID(), key, ownRole: membership?.own, claimed },
      projectRole: membership && roleIn(membership),
      digest: claimed && digestOf([{ key: keyOf(sub), role: claimed }], powers),
    };
    return { ...user, ...project, id: randomUUID(), email, issuer: issuer.partner.issuer, sub };
  }

  /** With their projects, of which some have no user yet. */
  private async makeUsers(users: readonly { role?: string; key: string | null }[]): Promise<void> {
    const existing = users.filter(({ role }) => role !== undefined);
    await this.service.rows(
      `WITH made AS (
         SELECT * FROM json_to_recordset($1) AS made (id uuid, email text, issuer text, sub text, role text,
           enabled boolean, "givenName" text, "familyName" text, "isLinked" boolean, digest text)
       ), account AS (
         INSERT INTO user_account (id, email, normalized_email, given_name, family_name, role, enabled)
         SELECT id, email, email, "givenName", "familyName", role, enabled FROM made
       )
       INSERT INTO token_exchange_identity_link (issuer, subject, user_id, projects_digest)
       SELECT issuer, sub, id, digest FROM made WHERE "isLinked"`,
      [JSON.stringify(existing)],
    );
    await this.service.rows(
      `WITH made AS (
         SELECT * FROM json_to_recordset($1) AS made (id uuid, "projectId" uuid, issuer text, key text, "projectRole" text,
           "ownRole" text, claimed text)
       ), project AS (
         INSERT INTO project (id, type, name) SELECT "projectId", 'team', key FROM made
       ), external AS (
         INSERT INTO project_external_key (issuer, key, project_id) SELECT issuer, key, "projectId" FROM made
       )
       INSERT INTO project_member (project_id, user_id, role, own_role, issuer)
       SELECT "projectId", id, "projectRole", CASE WHEN claimed IS NOT NULL THEN "ownRole" END,
         CASE WHEN claimed IS NOT NULL THEN issuer END FROM made WHERE "projectRole" IS NOT NULL`,
      [JSON.stringify(users.filter(({ key }) => key !== null))],
    );
  }

  private async userAfter(
    request: Request,
    index: number,
  ): Promise<{ id: string; state: object } | undefined> {
    const [row] = await this.service.rows<{ id: string }>(
      `SELECT id, role, given_name AS "givenName", family_name AS "familyName", enabled,
         (SELECT count(*)::int FROM token_exchange_identity_link WHERE user_id = user_account.id) AS links,
         (SELECT json_agg(json_build_array(member.role, member.issuer IS NOT NULL)) FROM project_member member
          JOIN project_external_key external USING (project_id) WHERE member.user_id = user_account.id) AS projects
       FROM user_account WHERE normalized_email = $1`,
      [this.emailOf(request, index)],
    );
    if (row === undefined) return undefined;
    const { id, ...state } = row;
    return { id, state };
  }
}

function randomRequest(random: Random): Request {
  const flow = random.below(3) === 0 ? 'embed' : 'exchange';
  const isPair = flow === 'exchange' && random.below(3) === 0;
  const parties = isPair ? [randomParty(random), randomParty(random)] : [randomParty(random)];
  if (random.below(2) === 0) return { flow, parties };
  const kind = random.pick(Object.keys(CHANGES) as (keyof typeof CHANGES)[]);
  return { flow, parties, change: { kind, index: random.below(parties.length) } };
}

/** The parts of a trace that the table tells. Of several parties the one whose identity sorts first is resolved first. */
function expected({ flow, parties: request }: Request): object {
  const [succeeded, failed] =
    flow === 'embed' ? ['embed-login', 'embed-login-failed'] : ['succeeded', 'failed'];
  const ends = request.map((party, index) => ({
    end: endOf(party),
    sortKey: `${party.issuer.partner.issuer} ${index}`,
  }));
  const inOrder = ends.toSorted((one, other) => (one.sortKey < other.sortKey ? -1 : 1));
  for (const { end } of inOrder) {
    if (isAccepted(end)) continue;
    const users = request.map(({ before }) => before && stored(before, before.isLinked));
    return { outcome: end.refusal, users, names: [failed] };
  }
  const accepted = ends.map(({ end }) => end).filter(isAccepted);
  return {
    outcome: 'issued',
    users: accepted.map((end) => stored({ ...end, enabled: true }, true)),
    names: [...accepted.flatMap(({ changes }) => changes), succeeded],
    warned: accepted.map(({ isWarned }) => isWarned),
  };
}

/** A party without its keys. */
function shown({ issuer: { policy }, ...party }: PartyCase): object {
  return { policy, ...party };
}

function stored(user: Omit<UserBefore, 'isLinked'>, isLinked: boolean): object {
  const { role, givenName, familyName, enabled, membership } = user;
  const projects = membership === undefined ? null : [[roleIn(membership), membership.claimed !== undefined]];
  return { role, givenName, familyName, enabled, links: isLinked ? 1 : 0, projects };
}

/** How many projects an event tells of: their ids are new in each way. */
function countsOf(payload: Record<string, unknown>): Record<string, number> {
  const lists = Object.entries(payload).filter(([name]) => ['added', 'changed', 'removed'].includes(name));
  return Object.fromEntries(lists.map(([name, ids]) => [name, (ids as string[]).length]));
}

function told({ outcome, users, events, warned }: Trace): object {
  const names = events.map((event) => (event as { name: string }).name);
  return { outcome, users, names, ...(outcome === 'issued' ? { warned } : {}) };
}

describeOnEachDatabase('[4.4.4] what a role claim does', (database) => {
  const clock = new TestClock();
  const trustedKeys = ISSUERS.map(({ partner, policy }) => partner.staticEntry({ ...policy }));
  const service = TestService.forBlock(database, { trustedKeys, clock });
  let ways: Way[];

  beforeAll(async () => {
    // An instance has one owner; here many stand at once for that one.
    await service.rows('DROP INDEX user_account_single_owner');
    const shared = service.part(CommitRepository);
    const transactionAlone = Object.assign(Object.create(shared) as CommitRepository, {
      writesEvents: false,
    });
    const known = service.part(KnownUsers);
    ways = [
      new Way('locked', service, clock, servicesBy(transactionAlone)),
      new Way('uncached', service, clock, servicesBy(shared)),
      new Way('cached', service, clock, { ...servicesBy(shared), remembered: known }),
    ];
  });
  const servicesBy = (repository: CommitRepository): Services => {
    const verifier = service.part(ExternalTokenVerifier);
    const revocations = service.part(Revocations);
    const throttle = service.part(EntryThrottleService);
    const commits = new CommitService(service.part(IdentityService), repository, service.part(AuditBus));
    const [notices, sessions] = [service.part(Notices), service.part(SessionService)];
    const planner = service.part(IssuancePlanner);
    return {
      exchanges: new TokenExchangeService(verifier, revocations, throttle, planner, commits, notices),
      logins: new EmbeddedLoginService(verifier, revocations, throttle, commits, sessions, notices, clock),
    };
  };

  it('[4.4.role.4][4.4.role.5][4.4.role.6][P.roleCeiling][P.excludeOwner][D134][D135] comes to one end in a transaction, on users that are looked up, and on remembered ones', async () => {
    const random = randomFrom(SEED);
    for (let round = 0; round < ROUNDS; round++) {
      const requests = Array.from({ length: REQUESTS_PER_ROUND }, () => randomRequest(random));
      const traces: Trace[][] = [];
      for (const way of ways) traces.push(await way.traces(requests));
      const [locked = [], ...others] = traces;
      for (const [index, request] of requests.entries()) {
        const { flow, change, parties } = request;
        const which = { seed: SEED, round, index, flow, change, parties: parties.map(shown) };
        for (const other of others) expect([which, other[index]]).toEqual([which, locked[index]]);
        if (change === undefined) expect([which, told(locked[index]!)]).toEqual([which, expected(request)]);
      }
    }
  }, 3_600_000);
});
