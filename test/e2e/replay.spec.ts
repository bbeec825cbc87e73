// Each token id passes once: over both flows, both parties, all issuers, in parallel, and on several instances.
import type { Members } from '../../demo/partner.js';
import { Partner } from '../../demo/partner.js';
import { countEvents } from '../support/audit.js';
import { census } from '../support/census.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { INVALID_GRANT } from '../support/entry-paths.js';
import { linkedUser } from '../support/local-users.js';
import { TestService } from '../support/test-service.js';

const AUDIENCE = 'https://instance.example';
const SUCCEEDED = 'svc.audit.token-exchange.succeeded';

const partner = Partner.create({ issuer: 'https://partner.example', audience: AUDIENCE });
const other = Partner.create({ issuer: 'https://other.example', audience: AUDIENCE });
const trustedKeys = [
  partner.staticEntry({ allowedRoles: ['global:member'] }),
  other.staticEntry({ allowedRoles: ['global:member', 'global:admin'] }),
];
const token = (claims: Members = {}) => partner.sign(partner.claims(claims));

let subjects = 0;
/** A sub that no other test uses. */
const newSub = () => `replay-${++subjects}`;

/** Runs the same request many times at once and returns the bodies by their status. */
async function race(
  times: number,
  request: (index: number) => Promise<Response>,
): Promise<Map<number, string[]>> {
  const answers = await Promise.all(Array.from({ length: times }, (_, index) => request(index)));
  const bodies = new Map<number, string[]>();
  for (const answer of answers) {
    bodies.set(answer.status, [...(bodies.get(answer.status) ?? []), await answer.text()]);
  }
  return bodies;
}

const countsOf = (bodies: Map<number, string[]>) =>
  Object.fromEntries([...bodies].map(([status, texts]) => [status, texts.length]));

describeOnEachDatabase('replay', (database) => {
  const service = TestService.forBlock(database, { trustedKeys });

  const exchange = (subject: string, actor?: string) =>
    service.exchange({ subject_token: subject, actor_token: actor });
  const exchangeStatus = async (subject: string, actor?: string) => (await exchange(subject, actor)).status;

  it('[5.2.5][K17] fifty parallel uses of one jti: one passes, and the losers leave nothing', async () => {
    const sub = newSub();
    const before = await census(service);
    const succeededBefore = await countEvents(service, SUCCEEDED);
    const contested = token({ sub });
    const bodies = await race(50, () => exchange(contested));
    expect(countsOf(bodies)).toEqual({ 200: 1, 400: 49 });
    expect(new Set(bodies.get(400))).toEqual(new Set([INVALID_GRANT]));
    const after = await census(service);
    expect({ ...after, userStates: '', auditEvents: 0 }).toEqual({
      ...before,
      users: before.users + 1,
      links: before.links + 1,
      personalProjects: before.personalProjects + 1,
      members: before.members + 1,
      usedJtis: before.usedJtis + 1,
      userStates: '',
      auditEvents: 0,
    });
    // The winner's two events (a user was made, an exchange succeeded) and one refusal for each loser.
    expect(after.auditEvents - before.auditEvents).toBe(51);
    expect(await countEvents(service, SUCCEEDED)).toBe(succeededBefore + 1);
  });

  it('[5.2.5] fifty parallel embedded logins with one token open one session', async () => {
    const before = await census(service);
    const contested = token({ sub: newSub() });
    const bodies = await race(50, () => service.embed({ token: contested }));
    expect(countsOf(bodies)).toEqual({ 303: 1, 401: 49 });
    for (const body of bodies.get(401) ?? []) {
      expect(JSON.parse(body)).toEqual({ error: 'token_replayed', message: 'Token has already been used' });
    }
    const after = await census(service);
    expect(after).toMatchObject({
      sessions: before.sessions + 1,
      users: before.users + 1,
      links: before.links + 1,
    });
    expect(await countEvents(service, 'svc.audit.token-exchange.embed-login')).toBe(after.sessions);
  });

  it('[D3][K17] a loser changes no role', async () => {
    const sub = newSub();
    await service.accessToken({ subject_token: other.sign(other.claims({ sub })) });
    const jti = `role-${sub}`;
    const claims = (role: string) => other.sign(other.claims({ sub, jti, role }));
    await service.accessToken({ subject_token: claims('global:member') });
    const before = await census(service);
    expect(countsOf(await race(20, () => exchange(claims('global:admin'))))).toEqual({ 400: 20 });
    expect(await linkedUser(service, other.issuer, sub)).toMatchObject({ role: 'global:member' });
    expect(await census(service)).toEqual({ ...before, auditEvents: before.auditEvents + 20 });
  });

  it('[D2] one id for all issuers', async () => {
    const jti = `shared-${newSub()}`;
    expect(await exchangeStatus(token({ jti }))).toBe(200);
    expect(await exchangeStatus(other.sign(other.claims({ jti })))).toBe(400);
    expect((await service.embed({ token: other.sign(other.claims({ jti })) })).status).toBe(401);
  });

  it('[D3] two tokens with one jti, of one issuer or of two, are refused', async () => {
    for (const second of [partner, other]) {
      const jti = `pair-${newSub()}`;
      const before = await census(service);
      const answer = await exchange(token({ jti }), second.sign(second.claims({ jti, sub: newSub() })));
      expect([answer.status, await answer.text()]).toEqual([400, INVALID_GRANT]);
      const { auditEvents, usedJtis: used } = before;
      expect(await census(service)).toEqual({
        ...before,
        auditEvents: auditEvents + 1,
        usedJtis: used + 1,
      });
    }
  });

  it('[D3] an invalid actor leaves the subject unused, and an invalid subject the actor', async () => {
    const forger = Partner.create({ issuer: partner.issuer, kid: partner.kid, audience: AUDIENCE });
    const [subject, actor] = [token(), token()];
    expect(await exchangeStatus(subject, forger.sign())).toBe(400);
    expect(await exchangeStatus(forger.sign(), actor)).toBe(400);
    expect(await exchangeStatus(subject, actor)).toBe(200);
  });

  it('[D3] an actor whose role is refused takes back what was resolved of the subject', async () => {
    const [subject, actor] = [token({ sub: newSub() }), token({ sub: newSub(), role: 'global:admin' })];
    const before = await census(service);
    expect(await (await exchange(subject, actor)).text()).toBe(INVALID_GRANT);
    expect(await census(service)).toEqual({
      ...before,
      usedJtis: before.usedJtis + 2,
      auditEvents: before.auditEvents + 1,
    });
    expect(await exchangeStatus(subject)).toBe(400);
  });
});
