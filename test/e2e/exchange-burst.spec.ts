// Hundreds of different exchanges at the same moment: each gets the answer, and leaves the traces, that it does alone.
import { decodeJwt } from 'jose';
import type { Members } from '../../demo/partner.js';
import { Partner } from '../../demo/partner.js';
import type { StoredEvent } from '../support/audit.js';
import { EVENT, eventsOf } from '../support/audit.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { INVALID_CLAIMS, INVALID_GRANT } from '../support/entry-paths.js';
import { randomFrom } from '../support/random.js';
import { BASE_URL, TestService } from '../support/test-service.js';

const partner = Partner.create({ issuer: 'https://partner.example', audience: BASE_URL });
const stranger = Partner.create({ issuer: partner.issuer, kid: partner.kid, audience: BASE_URL });
const token = (sub: string, claims: Members = {}) => partner.sign(partner.claims({ sub, ...claims }));

const KNOWN_USERS = 12;
const known = (index: number) => `known-${index % KNOWN_USERS}`;
const disabled = (index: number) => `disabled-${index % 3}`;

/** One exchange and what must come of it. */
interface Exchange {
  readonly subject: string;
  readonly actor?: string;
  /** Whose ids the issued token must hold. */
  readonly subjectSub: string;
  readonly actorSub?: string;
  /** The names of its audit events without what all share, in their order; the reason for a refusal. */
  readonly events: readonly string[];
  readonly reason?: string;
  readonly party?: 'subject' | 'actor';
  readonly body?: string;
  /** A token of it that must still be unused. */
  readonly unused?: string;
  /** How many new ids a replayed pair uses up. */
  readonly usesUp?: number;
}

const succeeds = (subjectSub: string, changes: readonly string[] = []) => ({
  subject: token(subjectSub),
  subjectSub,
  events: [...changes, 'succeeded'],
});
const fails = (reason: string, exchange: Partial<Exchange> & Pick<Exchange, 'subject'>): Exchange => ({
  subjectSub: '',
  events: ['failed'],
  reason,
  body: INVALID_GRANT,
  ...exchange,
});

/** What makes an exchange of each kind; `used` is an id that was used before. */
const KINDS: Record<string, (index: number, used: string) => Exchange> = {
  'a known user': (index) => succeeds(known(index)),
  'another known user': (index) => succeeds(known(index + 5)),
  'an unknown user': (index) => succeeds(`new-${index}`, ['user-provisioned']),
  'a known user with a known actor': (index) => ({
    ...succeeds(known(index)),
    actor: token(known(index + 1)),
    actorSub: known(index + 1),
  }),
  'a known user with an unknown actor': (index) => ({
    ...succeeds(known(index), ['user-provisioned']),
    actor: token(`new-actor-${index}`),
    actorSub: `new-actor-${index}`,
  }),
  'a user with a new name': (index) => ({
    ...succeeds(known(index)),
    subject: token(known(index), { given_name: `Robin ${index}` }),
  }),
  'a disabled user': (index) => fails('user_disabled', { subject: token(disabled(index)), party: 'subject' }),
  'a disabled actor': (index) =>
    fails('user_disabled', { subject: token(known(index)), actor: token(disabled(index)), party: 'actor' }),
  'a replay': (index, used) => fails('token_replayed', { subject: token(known(index), { jti: used }) }),
  'a pair with a used subject': (index, used) => {
    const pair = { subject: token(known(index), { jti: used }), actor: token(known(index + 1)) };
    return fails('token_replayed', { ...pair, usesUp: 1 });
  },
  'a pair with a used actor': (index, used) => {
    const pair = { subject: token(known(index)), actor: token(known(index + 1), { jti: used }) };
    return fails('token_replayed', { ...pair, usesUp: 1 });
  },
  'a bad signature': (index) =>
    fails('signature_invalid', {
      subject: stranger.sign(stranger.claims({ sub: known(index) })),
      party: 'subject',
    }),
  'an actor with a bad signature': (index) => {
    const unused = token(known(index));
    const actor = stranger.sign(stranger.claims({ sub: known(index) }));
    return fails('signature_invalid', { subject: unused, actor, party: 'actor', unused });
  },
  'claims of wrong types': (index) =>
    fails('claims_invalid', {
      subject: token(known(index), { jti: 7 }),
      party: 'subject',
      body: INVALID_CLAIMS,
    }),
  'an expired token': (index) =>
    fails('token_expired', { subject: token(known(index), { iat: 1, exp: 61 }), party: 'subject' }),
};

/** Of several at once that give a user other names the order decides which of them change something. */
const RENAMED = `${EVENT}profile-updated`;

describeOnEachDatabase('[D3] exchanges of all kinds', (database) => {
  const service = TestService.forBlock(database, { trustedKeys: [partner.staticEntry()] });
  const used: string[] = [];

  beforeAll(async () => {
    const subs = [
      ...Array.from({ length: KNOWN_USERS }, (_, index) => known(index)),
      ...[0, 1, 2].map(disabled),
    ];
    for (const sub of subs) await service.accessToken({ subject_token: token(sub) });
    await service.rows(`UPDATE user_account SET enabled = false WHERE email LIKE 'disabled-%'`);
    for (const jti of ['used-1', 'used-2', 'used-3']) {
      await service.accessToken({ subject_token: token(known(0), { jti }) });
      used.push(jti);
    }
  });
  const send = async ({ subject, actor }: Exchange, requestId: string) => {
    const fields = { subject_token: subject, actor_token: actor };
    const answer = await service.exchange(fields, { 'x-request-id': requestId });
    return { status: answer.status, id: answer.headers.get('x-request-id'), body: await answer.text() };
  };
  const userIds = async () => {
    const rows = await service.rows<{ subject: string; id: string }>(
      'SELECT subject, user_id AS id FROM token_exchange_identity_link WHERE issuer = $1',
      [partner.issuer],
    );
    return new Map(rows.map(({ subject, id }) => [subject, id]));
  };
  const expectSuccess = (
    exchange: Exchange,
    body: string,
    rows: readonly StoredEvent[],
    ids: Map<string, string>,
  ) => {
    const { access_token: issued } = JSON.parse(body) as { access_token: string };
    const claims = decodeJwt<{ act?: { sub: string } }>(issued);
    const [subjectId, actorId] = [ids.get(exchange.subjectSub), ids.get(exchange.actorSub ?? '')];
    expect([claims.sub, claims.act?.sub]).toEqual([subjectId, actorId]);
    for (const row of rows) {
      expect(row).toMatchObject({ subjectUserId: subjectId, actorUserId: actorId ?? null });
    }
    expect(rows.at(-1)?.payload).toMatchObject({ accessTokenId: claims.jti, issuer: partner.issuer });
  };
  const expectRefusal = ({ reason, party }: Exchange, [row]: readonly StoredEvent[]) => {
    expect(row).toMatchObject({ payload: { reason } });
    expect(row?.payload['party']).toBe(party);
  };
  /** Sends all of them at once and holds answers, tokens and audit rows against what each must come to. */
  const expectAll = async (exchanges: readonly Exchange[], name: string) => {
    const answers = await Promise.all(exchanges.map((exchange, place) => send(exchange, `${name}-${place}`)));
    const [ids, events] = [await userIds(), await eventsOf(service)];
    exchanges.forEach((exchange, place) => {
      const { status, id, body } = answers[place]!;
      const own = `${name}-${place}`;
      const rows = events.filter((row) => row.requestId === own && row.name !== RENAMED);
      expect([status, id]).toEqual([exchange.reason === undefined ? 200 : 400, own]);
      expect(rows.map((row) => row.name.replace(EVENT, ''))).toEqual(exchange.events);
      if (exchange.reason === undefined) return expectSuccess(exchange, body, rows, ids);
      expect(body).toBe(exchange.body);
      expectRefusal(exchange, rows);
    });
  };
  const someOfEach = (count: number, from: number) =>
    Object.values(KINDS).flatMap((make) =>
      Array.from({ length: count }, (_, index) => make(from + index, used[index % used.length] ?? '')),
    );
  const usedJtis = async () => {
    const [row] = await service.rows<{ n: number }>('SELECT count(*)::int AS n FROM token_exchange_used_jti');
    return row?.n ?? 0;
  };
  /** Refusals before the id is used leave it as it was. */
  const usesOf = ({ reason, actor, usesUp = 0 }: Exchange): number => {
    const isJudgedAfterwards = reason === undefined || reason === 'user_disabled';
    return isJudgedAfterwards ? (actor === undefined ? 1 : 2) : usesUp;
  };

  it('[D3] hundreds of all kinds at once, in seeded order: each as if it were alone', async () => {
    for (const round of [1, 2]) {
      const exchanges = shuffled(someOfEach(12, 100 * round), round);
      const before = await usedJtis();
      await expectAll(exchanges, `burst-${round}`);
      const uses = exchanges.map(usesOf).reduce((sum, count) => sum + count, 0);
      expect((await usedJtis()) - before).toBe(uses);
      const unused = exchanges.flatMap((exchange) => exchange.unused ?? []);
      expect(unused.length).toBeGreaterThan(10);
      const subsequent = await Promise.all(unused.map((each) => service.exchange({ subject_token: each })));
      expect(new Set(subsequent.map(({ status }) => status))).toEqual(new Set([200]));
    }
  });

  it('[5.2.5] tokens that come three times each among others pass once each', async () => {
    const tokens = Array.from({ length: 40 }, (_, index) =>
      token(index % 4 === 0 ? `thrice-${index}` : known(index)),
    );
    const sent = shuffled([...tokens, ...tokens, ...tokens], 3);
    const others = someOfEach(2, 500);
    const race = Promise.all(sent.map((each) => service.exchange({ subject_token: each })));
    const [answers] = await Promise.all([race, expectAll(others, 'beside')]);
    const passed = sent.filter((_, place) => answers[place]?.status === 200);
    expect(passed.toSorted()).toEqual(tokens.toSorted());
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(2 * tokens.length);
  });
});

/** Fisher and Yates, with a seed. */
function shuffled<T>(list: readonly T[], seed: number): T[] {
  const random = randomFrom(seed);
  const result = [...list];
  for (let place = result.length - 1; place > 0; place--) {
    const other = random.below(place + 1);
    [result[place], result[other]] = [result[other]!, result[place]!];
  }
  return result;
}
