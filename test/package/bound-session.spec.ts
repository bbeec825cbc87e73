// A session that is bound to a key of the page, at a host of the package: with the page's side of the guide, and without support for it.
import { compileFunction } from 'node:vm';
import { repositoryFile } from '../support/source-files.js';
import { until } from '../support/until.js';
import { describeOnEmptyDatabase } from './support/empty-database.js';
import { BASE_URL, HostProcess, newPartner, ofParts, optionsOf } from './support/host-process.js';

const HOST_ORIGIN = 'https://partner.example';
const PATIENCE_MS = 60_000;
const PARENT = Symbol('the page that contains the frame');

/** The page of the guide, whose requests reach the host with the page's `Origin`. */
interface GuidePage {
  readonly send: (path: string) => Promise<Response>;
  readonly hears: (message: { source: unknown; origin: string; data: object }) => Promise<void>;
}

async function openPage(url: () => string): Promise<GuidePage> {
  const { text } = repositoryFile('src/token-exchange/docs/guide.md');
  const code = /```js\n(const HOST[^]*?)```/.exec(text)?.[1];
  if (code === undefined) throw new Error('the guide has no page');
  const listeners: GuidePage['hears'][] = [];
  const listen = (_: string, listener: GuidePage['hears']) => listeners.push(listener);
  const fetchFromPage = (address: string, request: RequestInit) =>
    fetch(address.replace(BASE_URL, url()), {
      ...request,
      headers: { ...request.headers, origin: BASE_URL },
    });
  const program = compileFunction(`return (async () => { ${code} return send; })();`, [
    ...['parent', 'location', 'addEventListener', 'fetch'],
  ]) as (...values: unknown[]) => Promise<GuidePage['send']>;
  const send = await program(PARENT, { origin: BASE_URL }, listen, fetchFromPage);
  const [hears] = listeners;
  if (hears === undefined) throw new Error('the page of the guide listens to nothing');
  return { send, hears };
}

describeOnEmptyDatabase.each(ofParts('defaults'), (kind, database) => {
  const partner = newPartner();
  const host = HostProcess.forBlock(() => optionsOf(partner, { ...kind, databaseUrl: database().url }));

  it("[D25] the guide's page signs in with its own key, and only its calls have the session", async () => {
    const page = await openPage(() => host.url);
    expect((await page.send('/bound-session')).status).toBe(401);
    const data = { type: 'login', token: partner.sign() };
    await page.hears({ source: PARENT, origin: 'https://other.example', data });
    expect((await page.send('/bound-session')).status).toBe(401);
    await page.hears({ source: PARENT, origin: HOST_ORIGIN, data });
    const [user] = await database().query<{ id: string }>('SELECT id FROM product_user');
    const answer = await page.send('/bound-session');
    expect([answer.status, await answer.json()]).toEqual([200, { userId: user?.id }]);
  });
});

describeOnEmptyDatabase.each(ofParts('own'), (kind, database) => {
  const partner = newPartner();
  const host = HostProcess.forBlock(() => optionsOf(partner, { ...kind, databaseUrl: database().url }));

  it('[D25] a host without bound sessions answers 501', async () => {
    const form = { token: partner.sign(), answer: 'session', hostOrigin: HOST_ORIGIN };
    const { status } = await host.post('/rest/auth/embed', new URLSearchParams(form).toString(), {
      origin: BASE_URL,
    });
    expect(status).toBe(501);
    await until('the refusal is recorded', PATIENCE_MS, () => host.output.includes('not_enabled'));
  });
});
