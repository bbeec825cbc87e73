// The answers to people and to programs at an unknown address.
import { describeOnAnyDatabase } from '../support/databases.js';
import { TestService } from '../support/test-service.js';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const JSON_BODY = { error: 'not_found', message: 'Not found' };

describeOnAnyDatabase('[D23] an address where nothing is', (database) => {
  const service = TestService.forBlock(database);
  const get = (path: string, init: RequestInit = {}) =>
    service.fetch(path, { headers: { accept: BROWSER }, ...init });

  it.each(['/nowhere', '/workflows/1?x=%3Cscript%3E', '/apis', '/%E2%82%AC'])(
    '[D23] %s is a page for a visitor, the same for each and with nothing of the request',
    async (path) => {
      const answer = await get(path);
      expect([answer.status, answer.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.headers.get('x-request-id')).not.toBeNull();
      expect(await answer.text()).toBe(await (await get('/another')).text());
    },
  );

  it.each(['/rest/nothing', '/api/v1/nothing', '/api', '/assets/x/y.js', '/.well-known/nothing'])(
    '[D23] %s is JSON for all',
    async (path) => {
      const answer = await get(path);
      expect([answer.status, await answer.json()]).toEqual([404, JSON_BODY]);
    },
  );

  it.each<RequestInit>([{ headers: {} }, { headers: { accept: 'application/json' } }, { method: 'POST' }])(
    '[D23] it is JSON for programs: %j',
    async (init) => {
      const answer = await get('/nowhere', init);
      expect([answer.status, await answer.json()]).toEqual([404, JSON_BODY]);
    },
  );

  it('[D57] a path that is there for another method stays 405', async () => {
    const answer = await get('/rest/auth/logout');
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
  });
});
