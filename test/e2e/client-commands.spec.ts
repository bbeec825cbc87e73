// svc-admin clients, typed beside a running service: what it stores lets a client in, and what it takes away keeps it out.
import { VERSION } from '../../src/platform/version.js';
import type { AddedClient, ListedClient } from '../../src/administration/clients.operations.js';
import { auditRows } from '../support/audit.js';
import { databaseEnvironment, describeOnAnyDatabase } from '../support/databases.js';
import { ASSERTIONS_ON, CLIENT_ASSERTION, IdJagClient, sha256 } from '../support/id-jag-client.js';
import { CommandLine } from '../support/run-cli.js';
import { BASE_URL, TestService } from '../support/test-service.js';
import { until } from '../support/until.js';

const SOON_MS = 10_000;
const acme = new IdJagClient('desktop');
const configured = new IdJagClient('configured');

describeOnAnyDatabase('commands on clients', (database) => {
  const trustedKeys = [configured.entry({ name: 'file' })];
  const environment = () => ({
    ...databaseEnvironment(database),
    SVC_TOKEN_EXCHANGE_TRUSTED_KEYS: JSON.stringify(trustedKeys),
    SVC_BASE_URL: BASE_URL,
  });
  const commands = new CommandLine(environment, VERSION);
  const service = TestService.forBlock(database, { trustedKeys, environment: ASSERTIONS_ON });

  beforeAll(async () => {
    commands.write('entry.json', acme.entry({ name: 'acme', clients: undefined }));
    commands.write('client-keys.json', acme.keys.jwks());
    await commands.output(['keys', 'add', '--file', 'entry.json']);
  });

  const clients = (...args: string[]) => commands.output(['clients', ...args]);
  const soonAnswers = (status: number, redeem: () => Promise<Response>) =>
    until(`an assertion answers ${status}`, SOON_MS, async () => (await redeem()).status === status);

  const byJwt = () =>
    acme.redeem(service, { client_assertion_type: CLIENT_ASSERTION, client_assertion: acme.jwt() }, {});

  it('[P.clients] add gives a secret of 256 bits, shown once and stored as its SHA-256; remove takes it away', async () => {
    const { secret = '' } = JSON.parse(await clients('add', 'acme', 'desktop', '--json')) as AddedClient;
    expect(Buffer.from(secret, 'base64url')).toHaveLength(32);
    const headers = { authorization: `Basic ${btoa(`desktop:${secret}`)}` };
    await soonAnswers(200, () => acme.redeem(service, {}, headers));
    const stored = JSON.stringify(await service.rows('SELECT * FROM token_exchange_stored_entry'));
    const events = JSON.stringify(await auditRows(service));
    for (const text of [stored, events]) {
      expect(text).toContain(sha256(secret));
      expect(text).not.toContain(secret);
    }
    expect(service.logText).not.toContain(secret);
    expect(JSON.parse(await clients('list', '--json'))).toEqual([
      { entry: 'file', issuer: configured.idp.issuer, id: 'configured', credential: 'secret', keys: [] },
      { entry: 'stored:acme', issuer: acme.idp.issuer, id: 'desktop', credential: 'secret', keys: [] },
    ] satisfies ListedClient[]);
    expect(await clients('remove', 'acme', 'desktop')).toBe(
      'The client "desktop" is removed from the entry "acme", everywhere within 10 seconds.\n',
    );
    await soonAnswers(401, () => acme.redeem(service, {}, headers));
  });

  it('[P.clients] add takes the keys of a client from a file', async () => {
    expect(await clients('add', 'acme', 'desktop', '--keys', 'client-keys.json')).not.toContain('secret');
    await soonAnswers(200, byJwt);
    expect(await clients('list')).toMatch(new RegExp(`stored:acme +desktop +keys +${acme.keys.kid}`));
  });

  it('[P.scopes] an entry that was stored without scopes is listed as refused, until it has some', async () => {
    await service.rows(
      `UPDATE token_exchange_stored_entry SET entry = (entry::jsonb - 'scopes')::text, revision = DEFAULT`,
    );
    await soonAnswers(401, byJwt);
    const listed = async () => JSON.parse(await commands.output(['keys', 'list', '--json'])) as unknown[];
    expect(await listed()).toContainEqual(
      expect.objectContaining({
        ...{ name: 'acme', state: 'refused' },
        problems: [expect.stringMatching(/^scopes: must be listed where flows has "id-jag"/)],
      }),
    );
    await commands.output(['keys', 'policy', 'acme', '--set', 'scopes=["workflow:read"]']);
    await soonAnswers(200, byJwt);
    expect(await listed()).toContainEqual(expect.objectContaining({ name: 'acme', state: 'trusted' }));
  });

  it.each([
    ['a client that is there', ['add', 'acme', 'desktop'], 'The entry has a client with this id already.'],
    ['a client that is not there', ['remove', 'acme', 'nobody'], 'The entry has no client with this id.'],
    ['a configured entry', ['add', 'file', 'x'], 'The entry with this name is configured, not stored'],
    [
      'a key set by http:',
      ['add', 'acme', 'x', '--jwks-url', 'http://x.example'],
      'jwksUrl must be an https: URL',
    ],
    ['an id that is none', ['add', 'acme', ''], 'must have an id of 1 to 255'],
  ])('[P.clients] refuses %s', async (_name, args, message) => {
    const { exitCode, stderr } = await commands.run(['clients', ...args]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain(message);
  });
});
