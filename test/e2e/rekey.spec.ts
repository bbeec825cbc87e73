// svc-admin credentials rekey: afterwards the first key of the list opens all data, even data that the service wrote in the meantime.
import { randomBytes } from 'node:crypto';
import { KeyRing } from '../../src/platform/secrets/key-ring.js';
import { ApiClient } from '../support/api-client.js';
import { ApiWorld, BASIC_AUTH } from '../support/api-world.js';
import type { TestDatabase } from '../support/databases.js';
import { describeOnEachDatabase, describeOnPostgresql } from '../support/databases.js';
import { CommandLine } from '../support/run-cli.js';
import { TestService } from '../support/test-service.js';

const [oldKey, newKey, otherKey] = [randomBytes(32), randomBytes(32), randomBytes(32)].map((key) =>
  key.toString('base64'),
) as [string, string, string];
const keys = (...list: string[]) => ({ SVC_ENCRYPTION_KEY: list.join(',') });
const serviceWith = (database: TestDatabase, ...list: string[]) =>
  TestService.start(database, { environment: keys(...list) });

interface Sealed {
  place: string;
  envelope: Buffer;
}

/** Whether one key alone opens everything that is sealed in the database. */
async function opensAll(service: TestService, key: string): Promise<boolean> {
  const ring = new KeyRing([Buffer.from(key, 'base64')]);
  const rows = await service.rows<Sealed>(
    `SELECT 'credential:' || id AS place, sealed_data AS envelope FROM credential
     UNION ALL SELECT 'signing_key:' || kid, sealed_private_key FROM token_exchange_signing_key`,
  );
  expect(rows.length).toBeGreaterThan(1);
  return rows.every(({ place, envelope }) => {
    try {
      return ring.unseal(envelope, place).length > 0;
    } catch {
      return false;
    }
  });
}

describeOnEachDatabase('svc-admin credentials rekey', (database) => {
  const line = new CommandLine(() => database.environment);
  const rekey = (...list: string[]) =>
    line.run(['credentials', 'rekey'], { ...database.environment, ...keys(...list) });
  let credentialId: string;

  beforeAll(async () => {
    const service = await serviceWith(database, oldKey);
    const world = new ApiWorld(service);
    await world.createParties();
    const projectId = await world.createProject();
    credentialId = await world.createCredential(projectId);
    for (let count = 0; count < 5; count++) await world.createCredential(projectId);
    await service.stop();
  });

  it('[D45] says which do not open, and leaves them as they are', async () => {
    const { exitCode, stdout, stderr } = await rekey(otherKey);
    expect([exitCode, stdout]).toEqual([1, 'Sealed again: 0 credentials, 0 signing keys.\n']);
    expect(stderr).toContain('error: Some secrets cannot be opened; they were not changed:\n  - credential ');
    expect(stderr).toContain(`credential ${credentialId}: no key of SVC_ENCRYPTION_KEY has the id`);
    expect(stderr).not.toContain(otherKey);
  });

  it('[D45] seals everything again under the first key, once', async () => {
    const sealedAgain = {
      exitCode: 0,
      stdout: 'Sealed again: 6 credentials, 1 signing key.\n',
      stderr: '',
    };
    expect(await rekey(newKey, oldKey)).toEqual(sealedAgain);
    expect(await rekey(newKey)).toEqual({
      ...sealedAgain,
      stdout: 'Sealed again: 0 credentials, 0 signing keys.\n',
    });
    const service = await serviceWith(database, newKey);
    expect(await opensAll(service, newKey)).toBe(true);
    expect(await new ApiWorld(service).credentialData(credentialId)).toEqual(BASIC_AUTH);
    await service.stop();
  });

  it('[D45] deletes what a lost key has sealed, where the operator knows how much that is', async () => {
    const discard = (count: number, ...list: string[]) =>
      line.run(['credentials', 'rekey', '--discard-unreadable', String(count)], {
        ...database.environment,
        ...keys(...list),
      });
    const before = await serviceWith(database, newKey);
    const rows = (service: TestService) => service.rows('SELECT id FROM credential');
    expect(await rows(before)).toHaveLength(6);
    await before.stop();
    const wrongCount = await discard(6, otherKey);
    expect([wrongCount.exitCode, wrongCount.stdout]).toEqual([
      1,
      'Sealed again: 0 credentials, 0 signing keys.\n',
    ]);
    expect(wrongCount.stderr).toContain('error: Nothing was deleted: 7 secrets cannot be opened:\n');
    expect(await discard(7, otherKey)).toEqual({
      exitCode: 0,
      stdout: 'Sealed again: 0 credentials, 0 signing keys.\nDeleted: 6 credentials, 1 signing key.\n',
      stderr: '',
    });
    const service = await serviceWith(database, otherKey);
    expect(await rows(service)).toEqual([]);
    const made = await service.rows<{ kid: string; envelope: Buffer }>(
      'SELECT kid, sealed_private_key AS envelope FROM token_exchange_signing_key',
    );
    expect(made).toHaveLength(1);
    const ring = new KeyRing([Buffer.from(otherKey, 'base64')]);
    expect(made.map(({ kid, envelope }) => ring.unseal(envelope, `signing_key:${kid}`))).toHaveLength(1);
    await service.stop();
  });
});

describeOnPostgresql('svc-admin credentials rekey beside a running service', (database) => {
  const line = new CommandLine(() => database.environment);
  const rekey = (...list: string[]) =>
    line.run(['credentials', 'rekey'], { ...database.environment, ...keys(...list) });

  it('[D45] needs SVC_ENCRYPTION_KEY', async () => {
    const without = { ...database.environment, SVC_ENCRYPTION_KEY: undefined };
    expect(await line.run(['credentials', 'rekey'], without)).toEqual({
      exitCode: 1,
      stdout: '',
      stderr:
        'error: SVC_ENCRYPTION_KEY is required with SVC_DATABASE_URL; openssl rand -base64 32 generates one.\n',
    });
  });

  it('[D45] loses no change that is made meanwhile, and ends no token', async () => {
    const before = await serviceWith(database, oldKey);
    const world = new ApiWorld(before);
    await world.createParties();
    const projectId = await world.createProject();
    const ids: string[] = [];
    for (let count = 0; count < 40; count++) ids.push(await world.createCredential(projectId));
    const token = await world.tokenOf('owner');
    const service = await serviceWith(database, newKey, oldKey);
    const api = await ApiClient.connect(service);
    const patches = ids.map((id, index) =>
      api.patch(`/api/v1/credentials/${id}`, token, {
        isPartialData: true,
        data: { password: `new ${index}` },
      }),
    );
    const [outcome, ...answers] = await Promise.all([rekey(newKey, oldKey), ...patches]);
    expect([outcome.exitCode, outcome.stderr]).toEqual([0, '']);
    expect(answers.map(({ status }) => status)).toEqual(ids.map(() => 200));
    expect(await opensAll(service, newKey)).toBe(true);
    for (const [index, id] of ids.entries())
      expect(await new ApiWorld(service).credentialData(id)).toEqual({
        user: 'ada',
        password: `new ${index}`,
      });
    expect((await api.get('/api/v1/credentials', token)).status).toBe(200);
    await Promise.all([before.stop(), service.stop()]);
  });
});
