// External tokens whose `act` names the owner: it is a record of who acted before, and gives nobody's rights.
import { Partner } from '../../demo/partner.js';
import type { DescribedOperation } from '../support/api-client.js';
import { ApiClient } from '../support/api-client.js';
import { RECIPES, requestFor } from '../support/api-recipes.js';
import { ApiWorld } from '../support/api-world.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { BASE_URL, TestService } from '../support/test-service.js';

/** What a partner might write in the hope that it counts; `owner` is the owner's local id. */
const ACTS: readonly [string, (owner: string) => object][] = [
  ['the owner', (owner) => ({ sub: owner })],
  ['the owner, of another issuer', (owner) => ({ sub: owner, iss: 'https://elsewhere.example' })],
  ['somebody for whom the owner acted', (owner) => ({ sub: 'agent', act: { sub: owner } })],
];

/** Where it is written: in the subject's token, the actor's, or both; without an actor the second is not sent. */
const PLACES = [
  { name: 'the subject, alone', inSubject: true, withActor: false, inActor: false },
  { name: 'the subject of an actor', inSubject: true, withActor: true, inActor: false },
  { name: 'the actor', inSubject: false, withActor: true, inActor: true },
  { name: 'both', inSubject: true, withActor: true, inActor: true },
];

describeOnAnyDatabase('[D30] an act claim that names the owner', (database) => {
  const partner = Partner.create({ issuer: 'https://partner.example' });
  const service = TestService.forBlock(database, { trustedKeys: [partner.staticEntry()] });
  const api = ApiClient.forBlock(service);
  const world = ApiWorld.forBlock(service);
  let owner: string;

  beforeAll(async () => {
    owner = world.idOf('owner');
  });
  const answers = async (send: (operation: DescribedOperation) => Promise<number>) => {
    const statuses: Record<string, number> = {};
    for (const operation of api.operations)
      statuses[`${operation.method} ${operation.path}`] = await send(operation);
    return statuses;
  };
  const byBearer = (token: string) =>
    answers(async (operation) => {
      const { path, body } = await requestFor(RECIPES, operation, world);
      return (await api.call({ method: operation.method, path, body, token })).status;
    });
  const bySession = (cookie: string) =>
    answers(async (operation) => {
      const { path, body } = await requestFor(RECIPES, operation, world);
      const headers = { cookie, origin: BASE_URL };
      return (await api.call({ method: operation.method, path, body, headers })).status;
    });
  const signed = (sub: string, act: object | undefined) => partner.sign(partner.claims({ sub, act }));
  const me = async (headers: Record<string, string>) =>
    (await (await service.fetch('/rest/me', { headers })).json()) as {
      user: { id: string; role: string };
      onBehalfOf: { id: string; role: string } | null;
    };

  it('the owner may all, and a stranger little of it: the two can be distinguished', async () => {
    const [all, little] = [await byBearer(await world.tokenOf('owner')), await strangersAnswers()];
    const same = Object.keys(all).filter((name) => all[name] === little[name]);
    expect(same.length).toBeLessThan(Object.keys(all).length / 3);
  });

  it.each(ACTS.flatMap(([whom, act]) => PLACES.map((place) => ({ whom, act, ...place }))))(
    '[D30] $whom, in the token of $name: every operation answers as to a stranger',
    async ({ act, inSubject, withActor, inActor }) => {
      const claim = act(owner);
      const token = await service.accessToken({
        subject_token: signed('customer', inSubject ? claim : undefined),
        ...(withActor ? { actor_token: signed('robot', inActor ? claim : undefined) } : {}),
      });
      const { user, onBehalfOf } = await me({ authorization: `Bearer ${token}` });
      for (const party of [user, onBehalfOf]) {
        expect(party?.id).not.toBe(owner);
        expect(party?.role ?? 'global:member').toBe('global:member');
      }
      expect(await byBearer(token)).toEqual(await strangersAnswers());
    },
  );

  it.each(ACTS)('[D30] %s, in the token of an embedded login: likewise', async (_, act) => {
    const cookie = await service.sessionCookie(signed('customer', act(owner)));
    expect((await me({ cookie })).user).toMatchObject({ role: 'global:member' });
    expect(await bySession(cookie)).toEqual(await strangersAnswers());
  });

  let strangers: Record<string, number> | undefined;
  /** What a member of no project gets, asked once. */
  async function strangersAnswers(): Promise<Record<string, number>> {
    strangers ??= await byBearer(await world.tokenOf('stranger'));
    return strangers;
  }
});
