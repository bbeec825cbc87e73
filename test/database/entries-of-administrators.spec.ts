// All short sequences of actions of two administrators on each other: none lets one sign in as the other.
import { randomUUID } from 'node:crypto';
import { Partner } from '../../demo/partner.js';
import { Administration } from '../../src/administration/administration.js';
import { EntryOperations } from '../../src/administration/entries/entries.operations.js';
import { StoredEntryFollower } from '../../src/token-exchange/trust/stored/stored-entry.follower.js';
import { ADMIN_ROLE, MEMBER_ROLE } from '../../src/users/role.js';
import { UserRepository } from '../../src/users/user.repository.js';
import { UserAdministrationService } from '../../src/workspace/users/user-administration.service.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { createUser, storedUser } from '../support/local-users.js';
import { bearerStatus, cookieOf, meStatus } from '../support/logins.js';
import { OPERATOR_ENVIRONMENT } from '../support/operators.js';
import { BASE_URL, TestService } from '../support/test-service.js';

const LONGEST = 5;
const ACTIONS = ['add', 'link', 'demote', 'promote', 'disable'] as const;
const CHANGES = {
  demote: { role: MEMBER_ROLE },
  promote: { role: ADMIN_ROLE, enabled: true },
  disable: { enabled: false },
} as const;

/** An administrator's action on the other. */
interface Step {
  readonly by: 0 | 1;
  readonly action: (typeof ACTIONS)[number];
}

const STEPS: readonly Step[] = ([0, 1] as const).flatMap((by) => ACTIONS.map((action) => ({ by, action })));

/** An administrator with the key of its own issuer, and all credentials that it has received for the other. */
interface Administrator {
  readonly id: string;
  readonly email: string;
  readonly own: Partner;
  readonly cookies: string[];
  readonly accessTokens: string[];
  /** The access generations of the other one at these sign-ins. */
  readonly generations: string[];
  hasEntry: boolean;
}

/** Two administrators of their own for each sequence. */
class Pair {
  private constructor(
    private readonly service: TestService,
    private readonly two: readonly [Administrator, Administrator],
  ) {}

  static async on(service: TestService): Promise<Pair> {
    const administrator = async (): Promise<Administrator> => {
      const name = randomUUID();
      const email = `${name}@example.com`;
      const own = Partner.create({ issuer: `https://${name}.example`, audience: BASE_URL });
      const id = await createUser(service, { email, role: ADMIN_ROLE });
      return { id, email, own, cookies: [], accessTokens: [], generations: [], hasEntry: false };
    };
    return new Pair(service, [await administrator(), await administrator()]);
  }

  /** @returns whether the step had an effect */
  async does({ by, action }: Step): Promise<boolean> {
    const [one, other] = [this.two[by], this.two[by === 0 ? 1 : 0]];
    if (action === 'link') return this.signsIn(one, other);
    const user = await this.service.part(UserRepository).findById(one.id);
    if (user?.enabled !== true || user.role !== ADMIN_ROLE) return false;
    if (action === 'add') return this.adds(one);
    const before = await storedUser(this.service, other.id);
    const change = CHANGES[action];
    const principal = { user, rightsOf: [user] } as never;
    await this.service
      .part(UserAdministrationService)
      .change({ principal, requestId: randomUUID() }, other.id, change);
    const after = await storedUser(this.service, other.id);
    return before.role !== after.role || before.enabled !== after.enabled;
  }

  /** The credentials that let one act as the other while the other is an administrator. */
  async tokenPaths(): Promise<string[]> {
    const [first, second] = this.two;
    return [...(await this.waysAs(first, second)), ...(await this.waysAs(second, first))];
  }

  /**
   * All stored data of both, and which of their credentials belong to the current access generation. The order does not matter.
   */
  async state(): Promise<string> {
    const states = this.two.map(async (one, index) => {
      const other = this.two[index === 0 ? 1 : 0];
      const [row] = await this.service.rows<{ generation: string }>(
        `SELECT u.role, u.enabled, u.access_generation::text AS generation, (
           SELECT json_agg(l.issuer = $2 ORDER BY l.issuer) FROM token_exchange_identity_link l
           WHERE l.user_id = u.id AND l.by_administrator) AS links
         FROM user_account u WHERE u.id = $1`,
        [one.id, one.own.issuer],
      );
      const { generation, ...stored } = row ?? { generation: '' };
      const theirs = new Set(other.generations.map((given) => given === generation));
      return { ...stored, hasEntry: one.hasEntry, theirs: [...theirs].sort() };
    });
    return JSON.stringify((await Promise.all(states)).map((one) => JSON.stringify(one)).sort());
  }

  async end(): Promise<void> {
    for (const one of this.two)
      if (one.hasEntry)
        await this.service
          .part(Administration)
          .perform(this.service.part(EntryOperations), 'remove', { name: one.id }, asked());
  }

  private async adds(one: Administrator): Promise<boolean> {
    if (one.hasEntry) return false;
    const entry = { ...one.own.staticEntry(), name: one.id };
    const operator = { userId: one.id, clientAddress: '192.0.2.1' };
    await this.service
      .part(Administration)
      .perform(this.service.part(EntryOperations), 'add', { entry }, { ...asked(), operator });
    await this.service.part(StoredEntryFollower).followNews();
    one.hasEntry = true;
    return true;
  }

  /** Signs in by both endpoints and keeps the credentials. */
  private async signsIn(one: Administrator, other: Administrator): Promise<boolean> {
    const [login, exchange] = await this.tries(one, { sub: other.id, email: other.email });
    const isGiven = login.status === 303;
    expect(exchange.status).toBe(isGiven ? 200 : 400);
    if (!isGiven) return false;
    const user = await this.service.part(UserRepository).findById(other.id);
    one.generations.push(String(user?.accessGeneration));
    one.cookies.push(cookieOf(login));
    one.accessTokens.push(((await exchange.json()) as { access_token: string }).access_token);
    return true;
  }

  private async tries(one: Administrator, claims: object): Promise<[Response, Response]> {
    const token = () => one.own.sign(one.own.claims({ ...claims }));
    return [
      await this.service.embed({ token: token() }),
      await this.service.exchange({ subject_token: token() }),
    ];
  }

  private async waysAs(one: Administrator, other: Administrator): Promise<string[]> {
    const { role } = await storedUser(this.service, other.id);
    if (role === MEMBER_ROLE) return [];
    const ways: string[] = [];
    for (const cookie of one.cookies)
      if ((await meStatus(this.service, cookie)) !== 401) ways.push('session');
    for (const token of one.accessTokens)
      if ((await bearerStatus(this.service, token)) !== 401) ways.push('access token');
    if (!one.hasEntry) return ways;
    for (const claims of [{ email: undefined }, { email: other.email }]) {
      const [login, exchange] = await this.tries(one, { sub: other.id, ...claims });
      if (login.status !== 401) ways.push('login');
      if (exchange.status !== 400) ways.push('exchange');
    }
    return ways;
  }
}

function asked() {
  return { id: randomUUID(), way: 'service' } as const;
}

describeOnAnyDatabase('two administrators', (database) => {
  const service = TestService.forBlock(database, { environment: OPERATOR_ENVIRONMENT });
  async function after(steps: readonly Step[]): Promise<Pair> {
    const pair = await Pair.on(service);
    for (const step of steps) await pair.does(step);
    return pair;
  }

  /** The states that one more step leads to, each with the steps to it. A step without an effect leaves the pair for the next one. */
  async function statesBehind(steps: readonly Step[]): Promise<Map<string, readonly Step[]>> {
    const found = new Map<string, readonly Step[]>();
    let pair: Pair | undefined;
    for (const step of STEPS) {
      pair ??= await after(steps);
      if (!(await pair.does(step))) continue;
      const all = [...steps, step];
      const story = all.map(({ by, action }) => `${by} ${action}`).join(', ');
      expect([story, await pair.tokenPaths()]).toEqual([story, []]);
      found.set(await pair.state(), all);
      await pair.end();
      pair = undefined;
    }
    await pair?.end();
    return found;
  }

  it(`[D144] cannot sign in as each other after any sequence of up to ${LONGEST} steps`, async () => {
    const seen = new Map<string, readonly Step[]>([['', []]]);
    // The list grows during the loop. Sequences that end in the same state have the same continuations.
    for (const steps of seen.values()) {
      if (steps.length === LONGEST) break;
      for (const [state, more] of await statesBehind(steps)) if (!seen.has(state)) seen.set(state, more);
    }
    const lengths = [...seen.values()].map((steps) => steps.length);
    expect(Math.max(...lengths)).toBe(LONGEST);
  });
});
