// Trusted key entries that are stored while the service runs: what their tokens may do, until they are suspended or removed.
import { Partner } from '../../demo/partner.js';
import { StoredEntryService } from '../../src/token-exchange/trust/stored/stored-entry.service.js';
import { eventsOf } from '../support/audit.js';
import type { TestDatabase } from '../support/databases.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { resumed, setting, suspended } from '../support/entry-edits.js';
import { JwksServer, silence } from '../support/jwks-server.js';
import type { TestServiceOptions } from '../support/test-service.js';
import { BASE_URL, TestService } from '../support/test-service.js';
import { until } from '../support/until.js';

const LIMIT_MS = 60_000;
const CHANGED = 'svc.audit.token-exchange.stored-entry-changed';
const configured = Partner.create({ issuer: 'https://configured.example', kid: 'c', audience: BASE_URL });
const acme = Partner.create({ issuer: 'https://acme.example', kid: 'a', audience: BASE_URL });
const OPTIONS: TestServiceOptions = {
  trustedKeys: [configured.staticEntry({ name: 'configured' })],
  environment: { SVC_TOKEN_EXCHANGE_JWKS_ALLOW_HTTP: 'true' },
};

const storedEntries = (service: TestService) => service.part(StoredEntryService);
const exchanged = async (service: TestService, partner: Partner) =>
  (await service.exchange({ subject_token: partner.sign() })).status;
/** Waits for the outcome of an exchange, because this process notices its own changes only after their commit. */
const soon = (service: TestService, partner: Partner, status: number) =>
  until(
    `an exchange answers ${status}`,
    LIMIT_MS,
    async () => (await exchanged(service, partner)) === status,
  );
/** Waits until a token of the entry is refused for this cause. */
const refusedFor = (service: TestService, partner: Partner, reason: string) =>
  until(`an exchange is refused for ${reason}`, LIMIT_MS, async () => {
    return (await exchanged(service, partner)) === 400 && (await lastReason(service)) === reason;
  });
/** The cause of the last refusal. */
const lastReason = async (service: TestService) =>
  (await eventsOf(service)).filter(({ name }) => name.endsWith('failed')).at(-1)?.payload['reason'];
const changes = async (service: TestService) =>
  (await eventsOf(service)).filter(({ name }) => name === CHANGED).map(({ payload }) => payload);

describeOnEachDatabase('an entry that is stored', (database: TestDatabase) => {
  const keySet = JwksServer.forBlock();
  const service = TestService.forBlock(database, OPTIONS);

  it('[D70] is kept after a restart. Its sessions continue after it is suspended or removed', async () => {
    await storedEntries(service).add(acme.staticEntry({ name: 'acme' }));
    await soon(service, acme, 200);
    await service.restart();
    const authorization = `Bearer ${await service.accessToken({ subject_token: acme.sign() })}`;
    const cookie = await service.sessionCookie(acme.sign());
    const statuses = async () => [
      (await service.fetch('/rest/me', { headers: { authorization } })).status,
      (await service.fetch('/rest/me', { headers: { cookie } })).status,
    ];
    const entries = storedEntries(service);
    await entries.change('acme', suspended);
    await refusedFor(service, acme, 'entry_suspended');
    expect(await statuses()).toEqual([200, 200]);
    await entries.remove('acme');
    await refusedFor(service, acme, 'issuer_unknown');
    expect(await statuses()).toEqual([200, 200]);
  });

  it('[D73] has an audit event with the old and the new value for each change', async () => {
    const entries = storedEntries(service);
    const before = (await changes(service)).length;
    const entry = acme.staticEntry({ name: 'told' });
    await entries.add(entry);
    await entries.change('told', setting({ perMinute: 7 }, 'expectedAudience'));
    await entries.change('told', suspended);
    await entries.change('told', suspended);
    await entries.change('told', resumed);
    await entries.remove('told');
    const { expectedAudience: _left, ...rest } = entry;
    const [added, loosened] = [entry, { ...rest, perMinute: 7 }];
    const told = { entry: 'told', issuer: acme.issuer };
    const stopped = { ...loosened, suspended: true };
    expect((await changes(service)).slice(before)).toEqual([
      { ...told, change: 'added', to: added },
      { ...told, change: 'policy-changed', from: added, to: loosened },
      { ...told, change: 'suspended', from: loosened, to: stopped },
      { ...told, change: 'resumed', from: stopped, to: loosened },
      { ...told, change: 'removed', from: loosened },
    ]);
  });

  it('[D72] of type jwks does not make a ready instance unready if its endpoint is silent', async () => {
    keySet.answerWith(silence());
    const requests = keySet.requestCount;
    await storedEntries(service).add({ type: 'jwks', name: 'silent', url: keySet.url, issuer: acme.issuer });
    await until('the endpoint is asked', LIMIT_MS, () => keySet.requestCount > requests);
    expect((await service.fetch('/healthz/readiness')).status).toBe(200);
    await storedEntries(service).remove('silent');
  });
});
