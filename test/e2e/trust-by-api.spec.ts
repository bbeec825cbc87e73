// What trust gave changes no trust: every route, called by the owner with an access token and with a session.
import { Partner } from '../../demo/partner.js';
import { StoredEntryService } from '../../src/token-exchange/trust/stored/stored-entry.service.js';
import { ApiClient } from '../support/api-client.js';
import { RECIPES, requestFor } from '../support/api-recipes.js';
import { ApiWorld } from '../support/api-world.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { BASE_URL, TestService } from '../support/test-service.js';
import { until } from '../support/until.js';

const acme = Partner.create({ issuer: 'https://acme.example', kid: 'a', audience: BASE_URL });
const mallory = Partner.create({ issuer: 'https://mallory.example', kid: 'm', audience: BASE_URL });

describeOnAnyDatabase('[D73] whom the service trusts', (database) => {
  const service = TestService.forBlock(database);
  const api = ApiClient.forBlock(service);
  const world = ApiWorld.forBlock(service);

  beforeAll(async () => {
    await service.part(StoredEntryService).add(acme.staticEntry({ name: 'acme' }));
    await until('the entry counts', 60_000, async () => (await exchanged(acme)) === 200);
  });
  const exchanged = async (partner: Partner) =>
    (await service.exchange({ subject_token: partner.sign() })).status;
  const trust = async () => [
    await service.rows('SELECT * FROM token_exchange_stored_entry'),
    await service.rows(`SELECT count(*) AS changes FROM audit_event WHERE name LIKE '%stored-entry-changed'`),
    [await exchanged(acme), await exchanged(mallory)],
  ];
  const credentials = async (): Promise<Record<string, string>[]> => [
    { authorization: `Bearer ${await world.tokenOf('owner')}` },
    { cookie: await world.sessionOf('owner'), origin: BASE_URL },
  ];

  it('[D73] no operation of the API changes it, even if it succeeds', async () => {
    const before = await trust();
    for (const operation of api.operations)
      for (const headers of await credentials()) {
        const request = await requestFor(RECIPES, operation, world);
        const answer = await api.call({ method: operation.method, ...request, headers });
        expect([operation.path, answer.status]).toEqual([operation.path, Math.min(...operation.statuses)]);
      }
    expect(await trust()).toEqual(before);
  });
});
