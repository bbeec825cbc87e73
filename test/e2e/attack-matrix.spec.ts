// Every check of an external token on every way into the service: none of the four may lack what another has.
import type { Attack } from '../support/attacks.js';
import { ATTACKS, Cast, embedWordOf, LATE_REFUSALS, ONE_OF_EACH_REASON } from '../support/attacks.js';
import { eventsOf, requestIdOf } from '../support/audit.js';
import type { Census } from '../support/census.js';
import { census } from '../support/census.js';
import { describeOnAnyDatabase, describeOnEachDatabase } from '../support/databases.js';
import type { EntryPath } from '../support/entry-paths.js';
import { ENTRY_PATHS, INVALID_CLAIMS, INVALID_GRANT, outcomeOf } from '../support/entry-paths.js';
import { TestService } from '../support/test-service.js';
import { FAILURES } from './support/trusted-partner.js';

/** Messages that the specification itself gives (7). */
const SPECIFIED_MESSAGES: Partial<Record<string, string>> = {
  token_replayed: 'Token has already been used',
  token_lifetime_exceeded: 'Token lifetime exceeds maximum allowed',
  kid_missing: 'Token header missing kid',
};

async function expectEmbedAnswer(answer: Response, { reason, verdict }: Attack): Promise<void> {
  expect(answer.status).toBe(verdict === 'claims-invalid' ? 500 : 401);
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
  const body = (await answer.json()) as Record<string, unknown>;
  const error = embedWordOf(reason);
  expect(body).toEqual({ error, message: SPECIFIED_MESSAGES[reason] ?? expect.any(String) });
}

async function expectExchangeAnswer(answer: Response, { verdict }: Attack): Promise<void> {
  expect(answer.status).toBe(400);
  expect(await answer.text()).toBe(verdict === 'claims-invalid' ? INVALID_CLAIMS : INVALID_GRANT);
}

/** What a refused client gets: the answer of its flow, and nothing to sign in with. */
async function expectRefusal(answer: Response, path: EntryPath, attack: Attack): Promise<void> {
  expect(answer.headers.get('set-cookie')).toBeNull();
  expect(answer.headers.get('location')).toBeNull();
  await (path.flow === 'embed' ? expectEmbedAnswer(answer, attack) : expectExchangeAnswer(answer, attack));
}

/** The trail holds the true cause, under the id that the client was given, and the log line says the same. */
async function expectTold(
  service: TestService,
  answer: Response,
  path: EntryPath,
  reason: string,
): Promise<void> {
  // The remaining lifetime of both tokens is checked together (4.2.5), so the refusal names no party.
  const isOfBoth = path.party === undefined || reason === 'remaining_lifetime_too_short';
  const party = isOfBoth ? {} : { party: path.party };
  const event = FAILURES[path.flow];
  const events = await eventsOf(service, answer);
  expect(events).toMatchObject([{ name: event, payload: { reason, ...party } }]);
  const requestId = requestIdOf(answer);
  const lines = service.log.filter((line) => line['requestId'] === requestId && line['event'] === event);
  expect(lines).toMatchObject([{ level: 'warn', payload: { reason } }]);
}

/** Expects that only the one audit row was added. */
async function expectOnlyTheAuditRow(
  service: TestService,
  before: Census,
  more: Partial<Census> = {},
): Promise<void> {
  expect(await census(service)).toEqual({ ...before, ...more, auditEvents: before.auditEvents + 1 });
}

const bindsPath = (attack: Attack, path: EntryPath) => attack.flow === undefined || attack.flow === path.flow;

const replayed: Attack = { name: 'replayed', make: () => '', reason: 'token_replayed', verdict: 'refused' };

/** Verification, which no database has a part in. */
describeOnAnyDatabase('[K5][D3][7.6][7.7][7.8] the attack matrix: before a token is used up', (database) => {
  const cast = new Cast();
  const service = TestService.forBlock(database, { trustedKeys: cast.trustedKeys });
  const subject = () => cast.other.sign(cast.other.claims({ sub: 'companion' }));

  beforeAll(async () => {
    await service.accessToken({ subject_token: subject() });
  });
  describe.each(ENTRY_PATHS)('$name', (path) => {
    it.each(ATTACKS.filter((attack) => bindsPath(attack, path)))('$name is refused', async (attack) => {
      const before = await census(service);
      const answer = await path.send(service, attack.make(cast), subject);
      await expectRefusal(answer, path, attack);
      await expectTold(service, answer, path, attack.reason);
      await expectOnlyTheAuditRow(service, before);
    });

    it.each(ATTACKS.filter((attack) => !bindsPath(attack, path)))(
      '$name is accepted, since the check binds the other flow only',
      async (attack) => {
        expect(outcomeOf(await path.send(service, attack.make(cast), subject))).toBe('accepted');
      },
    );
  });

  it('[7.5][D14] all refusals of the exchange are the same, but for what every answer changes', async () => {
    const paths = ENTRY_PATHS.filter(({ flow }) => flow === 'exchange');
    const attacks = [...ONE_OF_EACH_REASON, ...ATTACKS.filter(({ flow }) => flow === 'exchange')];
    const seen = new Set<string>();
    for (const { make } of attacks)
      for (const path of paths) {
        const answer = await path.send(service, await make(cast, service), subject);
        const headers = [...answer.headers].filter(
          ([name]) => !/^(date|x-request-id|ratelimit-.*)$/.test(name),
        );
        expect([answer.status, await answer.text()]).toEqual([400, INVALID_GRANT]);
        seen.add(JSON.stringify(headers));
      }
    expect([...seen]).toHaveLength(1);
  });

  it('[7.5][7.8] no fault was logged all the while', () => {
    expect(service.log.filter(({ level }) => level === 'error')).toEqual([]);
  });
});

describeOnEachDatabase('[6.2][6.4] the attack matrix: what is accepted, once', (database) => {
  const cast = new Cast();
  const service = TestService.forBlock(database, { trustedKeys: cast.trustedKeys });
  const subject = () => cast.other.sign(cast.other.claims({ sub: 'companion' }));

  beforeAll(async () => {
    await service.accessToken({ subject_token: subject() });
  });
  describe.each(ENTRY_PATHS)('$name', (path) => {
    it.each(ENTRY_PATHS)('[5.2.5][K18] refuses what $name has used up', async (first) => {
      const token = cast.main.sign();
      expect(outcomeOf(await first.send(service, token, subject))).toBe('accepted');
      const before = await census(service);
      const answer = await path.send(service, token, subject);
      await expectRefusal(answer, path, replayed);
      const events = await eventsOf(service, answer);
      expect(events).toMatchObject([{ name: FAILURES[path.flow], payload: { reason: 'token_replayed' } }]);
      // A refused pair uses up both of its tokens (D3).
      const used = path.party === 'actor' ? 1 : 0;
      await expectOnlyTheAuditRow(service, before, { usedJtis: before.usedJtis + used });
    });

    it.each(LATE_REFUSALS)('$name is refused, and the token is used up', async ({ reason, make }) => {
      const token = await make(cast, service);
      const before = await census(service);
      const answer = await path.send(service, token, subject);
      await expectRefusal(answer, path, { ...replayed, reason });
      await expectTold(service, answer, path, reason);
      const used = path.party === 'actor' ? 2 : 1;
      await expectOnlyTheAuditRow(service, before, { usedJtis: before.usedJtis + used });
      await expectRefusal(await path.send(service, token, subject), path, replayed);
    });
  });
});
