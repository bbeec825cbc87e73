// The seats of an issuer: which users take one, when it becomes free, and that the limit is never exceeded.
import { Partner } from '../../demo/partner.js';
import { eventsOf } from '../support/audit.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { isAccepted } from '../support/entry-paths.js';
import { explain } from '../support/explanations.js';
import { changeUser, createUser, deleteUser, linkedUser } from '../support/local-users.js';
import { CommandLine } from '../support/run-cli.js';
import { BASE_URL, TestService } from '../support/test-service.js';

const SEATS = 50;
const RUSH = 200;

const partner = Partner.create({ issuer: 'https://partner.example', kid: 'old', audience: BASE_URL });
const few = Partner.create({ issuer: 'https://few.example', audience: BASE_URL });
const trustedKeys = [
  partner.staticEntry(),
  // Another key of the same issuer.
  { ...partner.staticEntry({ maxUsers: SEATS }), kid: 'new' },
  few.staticEntry({ maxUsers: 2 }),
];

const tokenOf = (from: Partner, sub: string, claims: object = {}) =>
  from.sign(from.claims({ sub, email: `${sub}@${new URL(from.issuer).hostname}`, ...claims }));

/** The two flows take turns. */
function login(service: TestService, token: string, turn: number): Promise<Response> {
  return turn % 2 === 0 ? service.exchange({ subject_token: token }) : service.embed({ token });
}

/** Sends first logins at the same moment. A login that gets 503 is repeated. */
async function rush(service: TestService): Promise<string[]> {
  return Promise.all(
    Array.from({ length: RUSH }, async (_, turn) => {
      const send = () => login(service, tokenOf(partner, `rush-${turn}`), turn);
      let answer = await send();
      while (answer.status === 503) answer = await send();
      if (isAccepted(answer)) return 'accepted';
      const [event] = await eventsOf(service, answer);
      return String(event?.payload['reason']);
    }),
  );
}

describeOnEachDatabase('[P.maxUsers] the seats of an issuer', (database) => {
  const service = TestService.forBlock(database, { trustedKeys });
  const line = CommandLine.beside(database, () => trustedKeys);
  const outcomeOf = async (sub: string, claims: object = {}, turn = 0) => {
    const answer = await login(service, tokenOf(few, sub, claims), turn);
    if (isAccepted(answer)) return 'accepted';
    const event = (await eventsOf(service, answer)).at(-1);
    return [answer.status, event?.payload['reason']];
  };
  const idOf = async (sub: string) => (await linkedUser(service, few.issuer, sub))!.id;

  it('are taken by users who are created or linked, and freed if a user is disabled, unlinked or deleted', async () => {
    await createUser(service, { email: 'local@few.example' });
    expect(await outcomeOf('made')).toBe('accepted');
    expect(await outcomeOf('linked', { email: 'local@few.example' })).toBe('accepted');
    expect(await outcomeOf('third')).toEqual([400, 'seats_exhausted']);
    expect(await outcomeOf('third', {}, 1)).toEqual([401, 'seats_exhausted']);
    await createUser(service, { email: 'fourth@few.example' });
    expect(await outcomeOf('fourth')).toEqual([400, 'seats_exhausted']);
    for (const sub of ['made', 'linked']) expect(await outcomeOf(sub, {}, 1)).toBe('accepted');
    // A second identity of a user with a seat takes no seat.
    expect(await outcomeOf('second-account', { email: 'made@few.example' })).toBe('accepted');

    const made = await idOf('made');
    await changeUser(service, made, { enabled: false });
    expect(await outcomeOf('third')).toBe('accepted');
    expect(await outcomeOf('fourth')).toEqual([400, 'seats_exhausted']);
    // Linked users can always sign in, even if they are now more than the limit.
    await changeUser(service, made, { enabled: true });
    expect(await outcomeOf('made')).toBe('accepted');
    expect(await outcomeOf('fourth')).toEqual([400, 'seats_exhausted']);
    await line.output(['users', 'unlink', 'local@few.example', '--issuer', few.issuer]);
    await deleteUser(service, made);
    expect(await outcomeOf('fourth')).toBe('accepted');
    expect(await outcomeOf('fifth')).toEqual([400, 'seats_exhausted']);
  });

  it('[D80] are considered by explanations, which take none', async () => {
    const explained = (sub: string) => explain(service, { flow: 'exchange', token: tokenOf(few, sub) });
    expect(await explained('sixth')).toMatchObject({
      outcome: 'refused',
      refusal: { reason: 'seats_exhausted', check: 'admission' },
    });
    expect(await explained('fourth')).toMatchObject({ outcome: 'accepted' });
  });

  it('[D6] are not exceeded by two hundred concurrent first logins', async () => {
    const outcomes = await rush(service);
    expect(outcomes.filter((outcome) => outcome === 'accepted')).toHaveLength(SEATS);
    expect(new Set(outcomes)).toEqual(new Set(['accepted', 'seats_exhausted']));
    const made = await service.rows(`SELECT FROM user_account WHERE email LIKE 'rush-%'`);
    const linked = await service.rows(
      `SELECT DISTINCT user_id FROM token_exchange_identity_link WHERE issuer = '${partner.issuer}'`,
    );
    expect([made.length, linked.length]).toEqual([SEATS, SEATS]);
  });

  it('[D6] the last one is taken once by concurrent first logins of one user', async () => {
    await deleteUser(service, await idOf('fourth'));
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, turn) => login(service, tokenOf(few, 'same'), turn)),
    );
    expect(answers.map(isAccepted)).not.toContain(false);
    expect(await outcomeOf('seventh')).toEqual([400, 'seats_exhausted']);
  });
});
