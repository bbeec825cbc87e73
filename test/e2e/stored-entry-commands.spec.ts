// The commands on stored trusted key entries, run while the service runs, on both databases.
import { Partner } from '../../demo/partner.js';
import type { ListedEntry } from '../../src/administration/entries/entries.operations.js';
import { eventsOf } from '../support/audit.js';
import type { TestDatabase } from '../support/databases.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { JwksServer } from '../support/jwks-server.js';
import { CommandLine } from '../support/run-cli.js';
import { BASE_URL, TestService } from '../support/test-service.js';
import { until } from '../support/until.js';

const SOON_MS = 60_000;
const configured = Partner.create({ issuer: 'https://configured.example', kid: 'c', audience: BASE_URL });
const acme = Partner.create({ issuer: 'https://acme.example', kid: 'a', audience: BASE_URL });
const TRUSTED_KEYS = [configured.staticEntry({ name: 'from file', allowedRoles: [] })];

describeOnEachDatabase('commands on trusted key entries', (database: TestDatabase) => {
  const commands = CommandLine.beside(database, () => TRUSTED_KEYS);
  const keySet = JwksServer.forBlock();
  beforeAll(() => keySet.publish(acme.jwks()));
  const service = TestService.forBlock(database, {
    trustedKeys: TRUSTED_KEYS,
    environment: { SVC_TOKEN_EXCHANGE_JWKS_ALLOW_HTTP: 'true' },
  });

  const keys = (...args: string[]) => commands.output(['keys', ...args]);
  /** What a command that fails says on standard error. */
  const failing =
    (code: number) =>
    async (...args: string[]) => {
      const { exitCode, stdout, stderr } = await commands.run(['keys', ...args]);
      expect([exitCode, stdout]).toEqual([code, '']);
      return stderr;
    };
  const refusal = failing(1);
  const misuse = failing(2);
  const listed = async () => JSON.parse(await keys('list', '--json')) as ListedEntry[];
  const stored = async () => (await listed()).filter(({ from }) => from === 'command');
  const exchangeSoonAnswers = (status: number) =>
    until(`an exchange answers ${status}`, SOON_MS, async () => {
      return (await service.exchange({ subject_token: acme.sign() })).status === status;
    });

  it('[D70][D72][D73] add, suspend, resume, change and remove an entry of the running service', async () => {
    commands.write('entry.json', acme.staticEntry({ name: 'acme' }));
    expect(await keys('add', '--file', 'entry.json')).toMatch(
      /^The entry "acme" is stored, and trusted everywhere within 10 seconds: .*never the owner; .*but not to administrators/,
    );
    await exchangeSoonAnswers(200);
    expect(await keys('suspend', 'acme')).toBe(
      'The entry "acme" is suspended, everywhere within 10 seconds.\n',
    );
    await exchangeSoonAnswers(400);
    expect(await keys('suspend', 'acme')).toBe('The entry "acme" was already suspended.\n');
    expect(await stored()).toMatchObject([{ name: 'acme', state: 'suspended' }]);
    expect(await keys('resume', 'stored:acme')).toBe(
      'The entry "stored:acme" is trusted again, everywhere within 10 seconds.\n',
    );
    await exchangeSoonAnswers(200);
    const change = ['policy', 'acme', '--set', 'flows=["embed"]', '--set', 'perMinute=7'];
    expect(await keys(...change, '--unset', 'expectedAudience')).toMatch(
      /^warning: expectedAudience: .*\nThe entry "acme" is changed, everywhere within 10 seconds: .*embed only; .*7 a minute/,
    );
    await exchangeSoonAnswers(400);
    expect(await keys(...change)).toMatch(/The entry "acme" already had this policy: /);
    const shown = await keys('show', 'acme');
    expect(JSON.parse(shown)).toMatchObject({
      issuer: 'https://acme.example',
      flows: ['embed'],
      perMinute: 7,
    });
    commands.write('shown.json', JSON.parse(shown));
    expect(await keys('policy', 'acme', '--file', 'shown.json')).toMatch(/already had this policy/);
    expect(await keys('remove', 'acme')).toBe('The entry "acme" is removed, everywhere within 10 seconds.\n');
    expect(await stored()).toEqual([]);
    const told = (await eventsOf(service)).filter(({ name }) => name.endsWith('stored-entry-changed'));
    const performed = (await eventsOf(service)).filter(
      ({ payload }) => payload['operation'] === 'keys suspend',
    );
    expect(performed).toMatchObject([{ payload: { targets: { entry: 'acme' } } }, {}]);
    expect(performed[0]?.requestId).toBe(told[1]?.requestId);
  });

  it('[D70] list configured and stored entries with their kind', async () => {
    const entry = JSON.stringify({
      ...{ type: 'jwks', name: 'acme', url: `${keySet.url}?token=marker-5150`, issuer: acme.issuer },
      expectedAudience: BASE_URL,
    });
    const added = await commands.run(['keys', 'add', '--file', '-'], undefined, entry);
    expect(added).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await listed()).toMatchObject([
      { from: 'configuration', entry: 'from file', name: null, state: 'trusted', keys: { kid: 'c' } },
      { from: 'command', entry: 'stored:acme', name: 'acme', state: 'trusted', keys: { url: keySet.url } },
    ]);
    const text = await keys('list');
    expect(text).toMatch(/^Configured entries are in SVC_TOKEN_EXCHANGE_TRUSTED_KEYS: change them there/m);
    expect(await refusal('suspend', 'from file')).toMatch(/is configured, not stored/);
    expect(text).toMatch(/^stored:acme {2}.*never the owner; /m);
    expect(text).toMatch(/^from file {2,}.*may assign no role; /m);
    expect(text).not.toContain('marker-5150');
    await until('its keys were fetched', SOON_MS, () => keySet.requestCount > 0);
    await until('keys status tells it', SOON_MS, async () => {
      const states = JSON.parse(await keys('status', '--json')) as object[];
      return JSON.stringify(states).includes('"kids":["a"]');
    });
    expect((await keys('status')).split('\n')[1]).toMatch(
      /^stored:acme {2}http\S+ {2}held until \d{4}-\S+Z {2}a /,
    );
    await keys('remove', 'acme');
  });

  it('[D59][D70] list an entry as revoked whose key or issuer is, and the revoked keys of a key set', async () => {
    const { issuer } = configured;
    const set = { type: 'jwks', name: 'set', url: keySet.url, issuer, expectedAudience: BASE_URL };
    await commands.run(['keys', 'add', '--file', '-'], undefined, JSON.stringify(set));
    const states = async () =>
      (await listed()).map(({ state, revoked }) => [state, ...revoked.map(({ kid }) => kid)]);
    await keys('revoke', '--issuer', issuer, '--kid', 'other');
    expect(await states()).toEqual([['trusted'], ['trusted', 'other']]);
    expect(await keys('list')).toMatch(/^stored:set +command +trusted, except revoked keys /m);
    await keys('restore', '--issuer', issuer, '--kid', 'other');
    await keys('revoke', '--issuer', issuer, '--kid', 'c');
    expect(await states()).toEqual([
      ['revoked', 'c'],
      ['trusted', 'c'],
    ]);
    await keys('restore', '--issuer', issuer, '--kid', 'c');
    await keys('revoke', '--issuer', issuer);
    expect(await states()).toEqual([
      ['revoked', null],
      ['revoked', null],
    ]);
    await keys('restore', '--issuer', issuer);
    expect(await states()).toEqual([['trusted'], ['trusted']]);
    await keys('remove', 'set');
  });

  it('[D70] add another key of a partner with the policy of a stored entry', async () => {
    const newKey = Partner.create({ issuer: acme.issuer, kid: 'n', audience: BASE_URL });
    commands.write('new.pub.pem', newKey.publicKeyPem());
    const old = acme.staticEntry({ name: 'acme', allowedRoles: ['global:member'], perMinute: 7 });
    await commands.run(['keys', 'add', '--file', '-'], undefined, JSON.stringify(old));
    const add = ['add', '--like', 'acme', '--key', 'new.pub.pem', '--kid', 'n'];
    await keys(...add);
    const [one, another] = await stored();
    expect(another).toMatchObject({ name: 'acme-2', issuer: acme.issuer, keys: { kid: 'n' } });
    expect(another?.policy).toEqual(one?.policy);
    expect(await misuse('add', '--like', 'acme')).toContain('Give either --file, or --like and --key.');
    for (const name of ['acme', 'acme-2']) await keys('remove', name);
  });

  it("[D70] refuse two entries of one name, and changes of an entry's issuer or keys", async () => {
    commands.write('entry.json', acme.staticEntry({ name: 'acme' }));
    await keys('add', '--file', 'entry.json');
    expect(await refusal('add', '--file', 'entry.json')).toBe(
      'error: There is a stored entry with the name "acme" already.\n',
    );
    expect(await refusal('policy', 'acme', '--set', 'issuer="https://b.example"', '--unset', 'key')).toBe(
      'error: Only the policy of an entry can be changed:\n' +
        '  - issuer: add another entry, and remove this one\n  - key: add another entry, and remove this one\n',
    );
    expect(await refusal('policy', 'acme', '--unset', 'notAfter')).toContain('"notAfter": is not set');
    expect(await misuse('policy', 'acme')).toBe('error: Give either --set and --unset, or --file.\n');
    for (const word of ['suspend', 'resume', 'remove'])
      expect(await refusal(word, 'nobody')).toBe('error: There is no stored entry with this name.\n');
    await keys('remove', 'acme');
  });
});
