// Administrators who change each other at the same time: one always remains, and the other gets an error with the reason.
import type { ApiAnswer } from '../support/api-client.js';
import { ApiClient } from '../support/api-client.js';
import { ApiWorld } from '../support/api-world.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { changeUser, storedUser } from '../support/local-users.js';
import { TestService } from '../support/test-service.js';

/** On the embedded database all requests share one connection, so fewer orders of statements are possible. */
const ROUNDS = { postgresql: 25, embedded: 5 };
const DISABLE = { enabled: false };
const DEMOTE = { role: 'global:member' };
type Change = typeof DISABLE | typeof DEMOTE;

interface Administrator {
  readonly id: string;
  token: string;
}

describeOnEachDatabase('[D30] administrators who act on each other', (database) => {
  const service = TestService.forBlock(database);
  const api = ApiClient.forBlock(service);
  const world = new ApiWorld(service);

  const administrators = (count: number) =>
    Promise.all(
      Array.from({ length: count }, async (): Promise<Administrator> => {
        const id = await world.createUser('global:admin');
        return { id, token: await world.token(id) };
      }),
    );
  const change = ({ token }: Administrator, { id }: Administrator, body: Change) =>
    api.patch(`/api/v1/users/${id}`, token, body);
  const areLeft = async (all: readonly Administrator[]) => {
    const users = await Promise.all(all.map(({ id }) => storedUser(service, id)));
    return users.filter(({ role, enabled }) => enabled && role === 'global:admin').length;
  };
  const restore = (all: readonly Administrator[]) =>
    Promise.all(
      all.map(async (each) => {
        await changeUser(service, each.id, { role: 'global:admin', enabled: true });
        each.token = await world.token(each.id);
      }),
    );
  const answersOf = (answers: readonly ApiAnswer[]) =>
    answers.map(({ status, body }) => [status, body.error ?? 'done']).sort();

  it.each([
    ['disable and disable', DISABLE, DISABLE, [401, 'invalid_token']],
    ['demote and demote', DEMOTE, DEMOTE, [404, 'not_found']],
  ])(
    '[D30] %s each other at once: one succeeds, and the other is too late',
    async (_, ofOne, ofOther, late) => {
      const both = await administrators(2);
      const [one, other] = both as [Administrator, Administrator];
      for (let round = 0; round < ROUNDS[database.kind]; round++) {
        const answers = await Promise.all([change(one, other, ofOne), change(other, one, ofOther)]);
        expect([round, await areLeft(both), answersOf(answers)]).toEqual([round, 1, [[200, 'done'], late]]);
        await restore(both);
      }
    },
  );
});
