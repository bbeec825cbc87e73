// Random requests with a change by another connection between any two of their stages. Outcome, users, trail and the rights of the token
// or session must match one of the two sequential orders. Users, tokens, policies and changes are random, by both flows.
import { randomUUID } from 'node:crypto';
import { Partner } from '../../demo/partner.js';
import type { Flow } from '../../src/token-exchange/endpoint/flows.js';
import { digestOf } from '../../src/token-exchange/projects/projects-claim.js';
import { isTokenRefusal } from '../../src/token-exchange/refusals/oauth-refusal.js';
import { RevocationService } from '../../src/token-exchange/revocation/revocation.service.js';
import { keysOfLogout } from '../../src/token-exchange/revocation/revocations.js';
import { StoredEntryFollower } from '../../src/token-exchange/trust/stored/stored-entry.follower.js';
import { StoredEntryService } from '../../src/token-exchange/trust/stored/stored-entry.service.js';
import { eventsOf } from '../support/audit.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { UNPROVED } from '../support/dpop-client.js';
import { setting, suspended } from '../support/entry-edits.js';
import { sendBeside } from '../support/flow-requests.js';
import type { Random } from '../support/random.js';
import { randomFrom } from '../support/random.js';
import { sizeOf } from '../support/series.js';
import type { Flows } from '../support/stages.js';
import { flowsOf } from '../support/stages.js';
import { TestClock } from '../support/test-clock.js';
import { TestService } from '../support/test-service.js';
import type { PartyCase } from './support/role-cases.js';
import { claimsOf, ISSUERS, keyOf, randomParty, roleIn } from './support/role-cases.js';

const SEED = 44;
/** The whole of it, 10,000 cases: `npm run test:long -- request-order`. */
const ROUNDS = sizeOf({ small: 9, whole: 300 });
/** They are sent at once, and share statements. */
const REQUESTS_PER_ROUND = 30;
/** Alone, since their changes concern all requests of an issuer. */
const CHANGES_OF_TRUST = sizeOf({ small: 30, whole: 1_000 });

/** By SQL, of the user of one party. */
const BY_SQL = {
  disable: 'UPDATE user_account SET enabled = false WHERE normalized_email = $1',
  enable: 'UPDATE user_account SET enabled = true WHERE normalized_email = $1',
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
const OF_USERS = [...(Object.keys(BY_SQL) as (keyof typeof BY_SQL)[]), 'logout'] as const;
const OF_TRUST = ['revocation', 'restoration', 'suspension', 'ceiling'] as const;
/** After these nothing works that was issued before. */
const ENDING: readonly string[] = ['disable', 'delete', 'logout', 'revocation'];
/** Before the request, between its stages, and after it. */
const POINTS = ['sent', 'verified', 'used', 'answered'] as const;

interface Change {
  readonly kind: (typeof OF_USERS)[number] | (typeof OF_TRUST)[number];
  /** Of which party. */
  readonly index: number;
  readonly point: (typeof POINTS)[number];
}

interface Request {
  readonly flow: Flow;
  /** The subject first. */
  readonly parties: readonly PartyCase[];
  readonly change?: Change;
  /** Whether it is sent as at a host that does not name its table of users. */
  readonly isAlone: boolean;
}

/** When a change is made: before the request, after it, or at its point. */
type Order = 'earlier' | 'later' | 'between';

/** What a request has come to, and whether its token or session is good for anything after the change. */
interface Outcome {
  readonly outcome: string;
  readonly works: boolean;
}

/** All that is left of a request. Users and events are told by the party that they are of. */
interface Trace extends Outcome {
  readonly users: readonly unknown[];
  readonly events: readonly unknown[];
  readonly warned: readonly boolean[];
}

/** One order, with identities that no other one has. */
class Way {
  private readonly requestIds = new Map<Request, string>();

  constructor(
    private readonly order: Order,
    private readonly service: TestService,
    private readonly clock: TestClock,
  ) {}

  /** Creates the users, sends all requests at once, and returns the stored traces of each. */
  async traces(requests: readonly Request[]): Promise<Trace[]> {
    for (const request of requests) this.requestIds.set(request, randomUUID());
    await this.makeUsers(
      requests.flatMap((request) => request.parties.map((_, index) => this.userBefore(request, index))),
    );
    const outcomes = await Promise.all(requests.map((request) => this.send(request)));
    const warned = this.warnedUsers();
    return Promise.all(requests.map((request, index) => this.trace(request, outcomes[index]!, warned)));
  }

  private async change(request: Request): Promise<void> {
    const { kind, index } = request.change!;
    if (kind === 'logout') return this.logOut(request, index);
    if (kind in BY_SQL)
      return void (await this.service.rows(BY_SQL[kind as keyof typeof BY_SQL], [
        this.emailOf(request, index),
      ]));
    await changeTrust(this.service, kind);
    // A restoration lets nothing live that was issued in its second.
    this.clock.advance(2);
  }

  private async logOut(request: Request, index: number): Promise<void> {
    const { issuer } = request.parties[index]!.issuer.partner;
    const keys = keysOfLogout(issuer, { sub: this.subOf(request, index) });
    const logout = { issuer, keys, until: Math.floor(this.clock.nowSeconds()), at: this.clock.now() };
    await this.service
      .part(RevocationService)
      .endLogins(async (_transaction, end) => ({ result: await end(logout), events: [] }));
  }

  private async send(request: Request): Promise<Outcome> {
    const { change, isAlone } = request;
    const point = this.order === 'between' ? change?.point : this.order === 'earlier' ? 'sent' : 'answered';
    let isChanged = change === undefined;
    const make = async () => {
      isChanged = true;
      await this.change(request);
    };
    if (change !== undefined && point === 'sent') await make();
    const between = change && (point === 'verified' || point === 'used') ? { [point]: make } : {};
    const flows = flowsOf(this.service, { ...between, isAlone: isAlone || this.order !== 'between' });
    const [outcome, credential] = await this.outcomeOf(request, flows);
    if (!isChanged) await make();
    const works =
      credential !== undefined && (await this.service.fetch('/rest/me', { headers: credential })).ok;
    return { outcome, works };
  }

  private async outcomeOf(
    request: Request,
    { exchanges, logins }: Flows,
  ): Promise<[outcome: string, credential?: Record<string, string>]> {
    const iat = Math.floor(this.clock.nowSeconds());
    const { flow, parties } = request;
    const [subjectToken = '', actorToken] = parties.map((party, index) =>
      party.issuer.partner.sign({ ...claimsOf(party, this.subOf(request, index)), iat, exp: iat + 50 }),
    );
    const requestId = this.requestIdOf(request);
    const source = { method: 'POST', origin: undefined, fetchSite: undefined } as const;
    try {
      return await sendBeside(this.service, { flow, requestId }, async (sent) => {
        if (flow === 'embed') {
          const { setCookie } = await logins.login({ token: subjectToken, source, cookies: undefined }, sent);
          return ['issued', { cookie: setCookie.split(';', 1)[0] ?? '' }];
        }
        const { accessToken } = await exchanges.exchange(
          { subjectToken, actorToken, proving: UNPROVED },
          sent,
        );
        return ['issued', { authorization: `Bearer ${accessToken}` }];
      });
    } catch (error) {
      if (isTokenRefusal(error)) return [error.reason];
      throw error;
    }
  }

  private async trace(request: Request, outcome: Outcome, warned: ReadonlySet<unknown>): Promise<Trace> {
    const users = await Promise.all(request.parties.map((_, index) => this.userAfter(request, index)));
    const rows = await eventsOf(this.service, this.requestIdOf(request));
    const ids = users.map((user) => user?.id);
    const partyOf = (id: unknown) => {
      if (typeof id !== 'string') return id;
      return ids.includes(id) ? ids.indexOf(id) : 'deleted';
    };
    const events = rows.map(({ name, subjectUserId: subject, actorUserId: actor, payload }) => ({
      name: name.slice(name.lastIndexOf('.') + 1),
      // A refusal is recorded after the change, with who is linked then.
      ...(name.endsWith('failed') ? {} : { subject: partyOf(subject), actor: partyOf(actor) }),
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
    return { ...outcome, users: states, events, warned: ids.map((id) => id !== undefined && warned.has(id)) };
  }

  /** The ids of the users of whom the operator was told that a claim was ignored. */
  private warnedUsers(): ReadonlySet<unknown> {
    const warnings = this.service.log.filter(({ msg }) => String(msg).includes('the role claim was ignored'));
    return new Set(warnings.map(({ userId }) => userId));
  }

  private requestIdOf(request: Request): string {
    return this.requestIds.get(request) ?? '';
  }

  private subOf(request: Request, index: number): string {
    return `${index}-${this.order}-${this.requestIdOf(request)}`;
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

  /** Creates the existing users and all projects. Some projects have no user yet. */
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
  const isAlone = random.below(4) === 0;
  if (random.below(4) === 0) return { flow, parties, isAlone };
  const index = random.below(parties.length);
  return {
    flow,
    parties,
    isAlone,
    change: { kind: random.pick(OF_USERS), index, point: random.pick(POINTS) },
  };
}

/** Of users of the stored entry, whose trust changes. */
function requestOfStored(random: Random): Request {
  const { parties, ...request } = randomRequest(random);
  const change = { kind: random.pick(OF_TRUST), index: 0, point: random.pick(POINTS) };
  return { ...request, parties: parties.map((party) => ({ ...party, issuer: STORED })), change };
}

const STORED = { partner: Partner.create({ issuer: 'https://stored.example' }), policy: {} };
const NAME = 'stored';
const WITH_CEILING = { roleCeiling: true, allowedRoles: ['global:member'] };
const WITHOUT_CEILING = { roleCeiling: false, allowedRoles: ['global:member', 'global:admin'] };

/** The trust in the key of the stored entry, as it is before each request. */
async function restoreTrust(service: TestService, kind: Change['kind']): Promise<void> {
  const { issuer, kid } = STORED.partner;
  await service.part(RevocationService).restore({ issuer, kid }, 'restored');
  await service.part(StoredEntryService).change(NAME, setting(WITHOUT_CEILING, 'suspended'));
  if (kind === 'restoration') await service.part(RevocationService).revoke({ issuer, kid }, 'revoked');
  await service.part(StoredEntryFollower).followNews();
}

async function changeTrust(service: TestService, kind: Change['kind']): Promise<void> {
  const { issuer, kid } = STORED.partner;
  const [revocations, entries] = [service.part(RevocationService), service.part(StoredEntryService)];
  if (kind === 'revocation') await revocations.revoke({ issuer, kid }, 'revoked');
  if (kind === 'restoration') await revocations.restore({ issuer, kid }, 'restored');
  if (kind === 'suspension') await entries.change(NAME, suspended);
  if (kind === 'ceiling') await entries.change(NAME, setting(WITH_CEILING));
  await service.part(StoredEntryFollower).followNews();
}

/** A party without its keys. */
function shown({ issuer: { policy }, ...party }: PartyCase): object {
  return { policy, ...party };
}

/** How many projects an event tells of: their ids are new in each way. */
function countsOf(payload: Record<string, unknown>): Record<string, number> {
  const lists = Object.entries(payload).filter(([name]) => ['added', 'changed', 'removed'].includes(name));
  return Object.fromEntries(lists.map(([name, ids]) => [name, (ids as string[]).length]));
}

describeOnEachDatabase('[4.4.4] a request', (database) => {
  const clock = new TestClock();
  const trustedKeys = ISSUERS.map(({ partner, policy }) => partner.staticEntry({ ...policy }));
  // Many requests at once, on a machine that may be busy: that is not a database that is away.
  const environment = { SVC_DATABASE_WAIT_MS: '30000' };
  const service = TestService.forBlock(database, { trustedKeys, clock, environment });
  let ways: Way[];

  beforeAll(async () => {
    // An instance has one owner; here many stand at once for that one.
    await service.rows('DROP INDEX user_account_single_owner');
    await service
      .part(StoredEntryService)
      .add(STORED.partner.staticEntry({ name: NAME, linkPrivileged: true, ...WITHOUT_CEILING }));
    ways = (['earlier', 'later', 'between'] as const).map((order) => new Way(order, service, clock));
  });

  /** By the three ways. */
  const expectOneOrder = async (
    requests: readonly Request[],
    round: number,
    prepare = async () => undefined,
  ) => {
    const traces: Trace[][] = [];
    for (const way of ways) {
      await prepare();
      traces.push(await way.traces(requests));
    }
    const [earlier = [], later = [], between = []] = traces;
    for (const [index, request] of requests.entries()) {
      const { flow, change, parties, isAlone } = request;
      const which = { seed: SEED, round, index, flow, change, isAlone, parties: parties.map(shown) };
      const orders = {
        sent: [earlier],
        answered: [later],
        verified: [earlier, later],
        used: [earlier, later],
      };
      const possible = change === undefined ? [later] : orders[change.point];
      expect(possible.map((order) => [which, order[index]])).toContainEqual([which, between[index]]);
      const isEnded = change !== undefined && ENDING.includes(change.kind);
      if (isEnded) expect([which, later[index]!.works]).toEqual([which, false]);
      if (change !== undefined) continue;
      expect([which, later[index]!.works]).toEqual([which, later[index]!.outcome === 'issued']);
    }
  };

  it('[D3][D7][D30][D132][D134] and a concurrent change of its users end in one of the two serial orders', async () => {
    const random = randomFrom(SEED);
    for (let round = 0; round < ROUNDS; round++)
      await expectOneOrder(
        Array.from({ length: REQUESTS_PER_ROUND }, () => randomRequest(random)),
        round,
      );
  }, 7_200_000);

  it('[D59][D70] and a concurrent change of trust end in one of the two serial orders', async () => {
    const random = randomFrom(SEED + 1);
    for (let round = 0; round < CHANGES_OF_TRUST; round++) {
      const request = requestOfStored(random);
      await expectOneOrder([request], round, async () => {
        clock.advance(2);
        await restoreTrust(service, request.change!.kind);
        clock.advance(2);
      });
    }
  }, 7_200_000);
});
