// Access tokens that were accepted once and come again: who they stand for is asked each time anew.
import { Partner } from '../../demo/partner.js';
import type { Members } from '../../demo/partner.js';
import { jsonOf } from '../support/answers.js';
import { describeOnEachDatabase } from '../support/databases.js';
import type { Me } from '../support/entry-paths.js';
import { changeUser, deleteUser } from '../support/local-users.js';
import { TestClock } from '../support/test-clock.js';
import { BASE_URL, TestService } from '../support/test-service.js';

const partner = Partner.create({ issuer: 'https://partner.example', audience: BASE_URL });
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Each with one character changed, all over the token. */
function alterations(token: string): string[] {
  const step = Math.max(1, Math.floor(token.length / 60));
  const places = Array.from({ length: token.length }, (_, place) => place);
  const chosen = places.filter((place) => place % step === 0 || token.length - place <= 4);
  return chosen
    .filter((place) => token[place] !== '.')
    .map((place) => {
      const other = ALPHABET[(ALPHABET.indexOf(token[place] ?? '') + 17) % 64] ?? '';
      return `${token.slice(0, place)}${other}${token.slice(place + 1)}`;
    });
}

describeOnEachDatabase('[D30] access tokens that come again', (database) => {
  const clock = new TestClock();
  const service = TestService.forBlock(database, { trustedKeys: [partner.staticEntry()], clock });

  const token = (claims: Members = {}) =>
    partner.sign(partner.claims({ iat: Math.floor(clock.nowSeconds()), ...claims }));
  const issued = (sub: string) => service.accessToken({ subject_token: token({ sub }) });
  const issuedWithActor = (sub: string, actor: string) =>
    service.accessToken({ subject_token: token({ sub }), actor_token: token({ sub: actor }) });
  const ask = (accessToken: string, path = '/rest/me') =>
    service.fetch(path, { headers: { authorization: `Bearer ${accessToken}` } });
  const status = async (accessToken: string) => (await ask(accessToken)).status;
  const me = async (accessToken: string) => jsonOf<Me>(await ask(accessToken));
  /** Who it is, after it has surely been remembered. */
  const remembered = async (accessToken: string) => {
    expect(await status(accessToken)).toBe(200);
    return me(accessToken);
  };

  it('[4.3] a token is refused at its expiry, however often it was accepted', async () => {
    const accessToken = await issued('expiring');
    const { expiresAt } = await remembered(accessToken);
    const lifeSeconds = (Date.parse(expiresAt) - clock.nowMs()) / 1000;
    expect(lifeSeconds).toBeGreaterThan(50);
    clock.advance(lifeSeconds - 1);
    expect(await status(accessToken)).toBe(200);
    clock.advance(1);
    const answer = await ask(accessToken);
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer error="invalid_token", /);
    expect(await status(accessToken)).toBe(401);
  });

  it('[D31] one character changed in header, payload or signature: 401, before the good one came and after', async () => {
    const accessToken = await issued('altered');
    const altered = alterations(accessToken);
    expect(altered.length).toBeGreaterThan(50);
    for (const other of altered) expect([other, await status(other)]).toEqual([other, 401]);
    const good = await remembered(accessToken);
    for (const other of altered) expect([other, await status(other)]).toEqual([other, 401]);
    expect(await me(accessToken)).toEqual(good);
  });

  it('[D31] parts of two good tokens put together: 401', async () => {
    const [a, b] = [await issued('mixed-a'), await issued('mixed-b')];
    await Promise.all([remembered(a), remembered(b)]);
    const [header = '', payload = '', signature = ''] = a.split('.');
    const [, otherPayload = '', otherSignature = ''] = b.split('.');
    for (const mixed of [
      `${header}.${otherPayload}.${signature}`,
      `${header}.${payload}.${otherSignature}`,
      `${header}.${payload}.`,
      `${header}.${payload}`,
      `${header}..${signature}`,
    ]) {
      expect([mixed, await status(mixed)]).toEqual([mixed, 401]);
    }
  });

  it('[D7] the remembered token of a user who was disabled stops at once, for good', async () => {
    const accessToken = await issued('leaver');
    const { user } = await remembered(accessToken);
    await changeUser(service, user.id, { enabled: false });
    expect(await status(accessToken)).toBe(401);
    await changeUser(service, user.id, { enabled: true });
    expect(await status(accessToken)).toBe(401);
    const next = await issued('leaver');
    expect(await status(next)).toBe(200);
    await deleteUser(service, user.id);
    expect(await status(next)).toBe(401);
  });

  it('[D8] a deleted actor is not replaced by the subject', async () => {
    const accessToken = await issuedWithActor('staying', 'removed');
    await deleteUser(service, (await remembered(accessToken)).user.id);
    expect(await status(accessToken)).toBe(401);
  });

  it('[D30] a changed role and name count at once', async () => {
    const accessToken = await issued('riser');
    const { user } = await remembered(accessToken);
    const reach = async () => (await ask(accessToken, '/api/v1/users')).status;
    expect([user.role, await reach()]).toEqual(['global:member', 403]);
    await changeUser(service, user.id, { role: 'global:admin', givenName: 'Risen' });
    expect((await me(accessToken)).user).toMatchObject({ role: 'global:admin', givenName: 'Risen' });
    expect(await reach()).toBe(200);
    await changeUser(service, user.id, { role: 'global:member' });
    expect(await reach()).toBe(403);
  });

  it('[D30] many tokens at once, again and again: each is its own user', async () => {
    const subs = Array.from({ length: 20 }, (_, index) => `crowd-${index}`);
    const accessTokens = await Promise.all(subs.map(issued));
    for (let round = 0; round < 3; round++) {
      const found = await Promise.all([...accessTokens, ...accessTokens].map(me));
      expect(found.map(({ user }) => user.email)).toEqual(
        [...subs, ...subs].map((sub) => `${sub}@partner.example`),
      );
    }
  });
});
