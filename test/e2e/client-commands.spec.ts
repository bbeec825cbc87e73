// svc-admin clients, run while the service runs: a stored client is accepted, and a removed one is refused.
import type { AddedClient, ListedClient } from '../../src/administration/clients/clients.operations.js';
import { eventsOf } from '../support/audit.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { ASSERTIONS_ON, CLIENT_ASSERTION, IdJagClient, sha256 } from '../support/id-jag-client.js';
import { CommandLine } from '../support/run-cli.js';
import { TestService } from '../support/test-service.js';
import { until } from '../support/until.js';

const SOON_MS = 60_000;
const acme = new IdJagClient('desktop');
const configured = new IdJagClient('configured');

describeOnAnyDatabase('commands on clients', (database) => {
  const trustedKeys = [configured.entry({ name: 'file' })];
  const commands = CommandLine.beside(database, () => trustedKeys);
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
    const events = JSON.stringify(await eventsOf(service));
    for (const text of [stored, events]) {
      expect(text).toContain(sha256(secret));
      expect(text).not.toContain(secret);
    }
    expect(service.logText).not.toContain(secret);
    expect(JSON.parse(await clients('list', '--json'))).toEqual([
      {
        ...{ entry: 'file', issuer: configured.idp.issuer, id: 'configured', credential: 'secret' },
        ...{ keys: [], introspect: false },
      },
      {
        ...{ entry: 'stored:acme', issuer: acme.idp.issuer, id: 'desktop', credential: 'secret' },
        ...{ keys: [], introspect: false },
      },
    ] satisfies ListedClient[]);
    expect(await clients('remove', 'acme', 'desktop')).toBe(
      'The client "desktop" is removed from the entry "acme", everywhere within 10 seconds.\n',
    );
    await soonAnswers(401, () => acme.redeem(service, {}, headers));
  });

  it('[P.clients] a second secret lets a client in beside the first, until the older one is removed', async () => {
    const secretOf = async (...args: string[]) =>
      (JSON.parse(await clients(...args, '--json')) as AddedClient).secret ?? '';
    const answers = async (secret: string) => {
      const headers = { authorization: `Basic ${btoa(`desktop:${secret}`)}` };
      return (await acme.redeem(service, {}, headers)).status;
    };
    const soon = (status: number, secret: string) =>
      until(`a secret answers ${status}`, SOON_MS, async () => (await answers(secret)) === status);
    const first = await secretOf('add', 'acme', 'desktop', '--introspect');
    const second = await secretOf('add-secret', 'acme', 'desktop');
    for (const secret of [first, second]) await soon(200, secret);
    expect(await clients('list')).toMatch(/stored:acme +desktop +two secrets +yes/);
    const full = await commands.run(['clients', 'add-secret', 'acme', 'desktop']);
    expect(full.stderr).toContain('The client already has two secrets. Remove one first.');
    expect(await clients('remove-secret', 'acme', 'desktop')).toContain('The older secret of the client');
    await soon(401, first);
    expect(await answers(second)).toBe(200);
    const third = await secretOf('add-secret', 'acme', 'desktop');
    await clients('remove-secret', 'acme', 'desktop', '--newer');
    await soon(401, third);
    expect(await answers(second)).toBe(200);
    const last = await commands.run(['clients', 'remove-secret', 'acme', 'desktop']);
    expect(last.stderr).toContain('The client has only one secret. Remove the client instead.');
    await clients('remove', 'acme', 'desktop');
  });

  it('[P.clients] add takes the keys of a client from a file', async () => {
    expect(await clients('add', 'acme', 'desktop', '--keys', 'client-keys.json')).not.toContain('secret');
    await soonAnswers(200, byJwt);
    expect(await clients('list')).toMatch(new RegExp(`stored:acme +desktop +keys +${acme.keys.kid}`));
    await clients('remove', 'acme', 'desktop');
  });

  it('[P.scopes] an entry that was stored without scopes is listed as refused, until it has some', async () => {
    await clients('add', 'acme', 'desktop', '--keys', 'client-keys.json');
    await service.rows(
      `UPDATE token_exchange_stored_entry SET entry = (entry::jsonb - 'scopes')::text, revision = DEFAULT`,
    );
    await soonAnswers(401, byJwt);
    const listed = async () => JSON.parse(await commands.output(['keys', 'list', '--json'])) as unknown[];
    expect(await listed()).toContainEqual(
      expect.objectContaining({
        ...{ name: 'acme', state: 'refused' },
        problems: [expect.stringMatching(/^scopes: must be listed if flows has "id-jag"/)],
      }),
    );
    await commands.output(['keys', 'policy', 'acme', '--set', 'scopes=["workflow:read"]']);
    await soonAnswers(200, byJwt);
    expect(await listed()).toContainEqual(expect.objectContaining({ name: 'acme', state: 'trusted' }));
  });
});
