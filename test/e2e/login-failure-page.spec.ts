// A refused login as a page: what a post of the instance's own script gets, and whom the page may tell.
import { Cast, OF_INVALID_CLAIMS, ONE_OF_EACH_REASON } from '../support/attacks.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { licenseEnvironment } from '../support/license.js';
import { TestClock } from '../support/test-clock.js';
import type { Fields } from '../support/test-service.js';
import { TestService } from '../support/test-service.js';
import { withServiceApart } from '../support/with-service.js';

const cast = new Cast();
const partner = cast.main;
const trustedKeys = [cast.mainEntry, cast.revoked.staticEntry()];
const HOST = 'https://product.example';
const environment = { SVC_EMBED_FRAME_ANCESTORS: HOST };

/** What the page says to programs. */
async function dataOf(answer: Response) {
  const html = await answer.text();
  const read = (name: string) => new RegExp(` data-${name}="([^"]*)"`).exec(html)?.[1];
  return { html, word: read('word'), request: read('request'), host: read('host') };
}

describeOnAnyDatabase('[D50] a refused login that asks for a page', (database) => {
  const service = TestService.forBlock(database, { trustedKeys, environment });
  const ask = (fields: Fields, headers: Record<string, string> = { origin: HOST }) =>
    service.embed({ answer: 'page', ...fields }, headers);

  it.each([...ONE_OF_EACH_REASON, ...OF_INVALID_CLAIMS])(
    '[D50] $name: the status and the word of the JSON, and nothing of the token',
    async ({ make }) => {
      const token = await make(cast, service);
      const json = await service.embed({ token }, { origin: HOST });
      const answer = await ask({ token });
      const { error } = (await json.json()) as { error: string };
      expect(answer.status).toBe(json.status);
      expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect([answer.headers.get('location'), answer.headers.get('set-cookie')]).toEqual([null, null]);
      const { html, word, request } = await dataOf(answer);
      // A token that is accepted once is refused as used up by then.
      expect([error, 'token_replayed']).toContain(word);
      expect(request).toBe(answer.headers.get('x-request-id'));
      expect(html).not.toContain(token.slice(0, 40) || 'no token');
      expect(html).not.toMatch(/<script(?![^>]* src=)|<style|\sstyle=|\son[a-z]+=|{{/i);
    },
  );

  it.each([
    ['the one that may frame the instance', { origin: HOST }, HOST],
    ['another', { origin: 'https://evil.example' }, ''],
    ['none, as pages without referrer say', { origin: 'null' }, ''],
    ['no header', {}, ''],
    ['what is no origin', { origin: '"><script>' }, ''],
  ])(
    '[D50] reports the word to the origin of the post where that may frame: %s',
    async (_, headers, host) => {
      const answer = await ask({ token: 'no token' }, headers);
      expect((await dataOf(answer)).host).toBe(host);
    },
  );

  it.each([
    ['no field', {}],
    ['another value', { answer: 'json' }],
  ])('[D50] with %s it is JSON', async (_, fields) => {
    const answer = await service.embed({ token: 'no token', ...fields }, { origin: HOST });
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
  });

  it('[D50] a broken form that asks for it gets it too; a GET never does', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', origin: HOST };
    const body = 'answer=page&token=a&token=b';
    const broken = await service.fetch('/rest/auth/embed', { method: 'POST', body, headers });
    expect([broken.status, (await dataOf(broken)).word]).toEqual([400, 'field_invalid']);
    const byGet = await service.fetch(`/rest/auth/embed?${body}`);
    expect(byGet.headers.get('content-type')).toMatch(/^application\/json/);
  });

  it.each([
    ['over 256 KiB', `token=${'x'.repeat(300 * 1024)}`, {}, 413, 'payload_too_large'],
    ['encoded', 'token=x', { 'content-encoding': 'br' }, 415, 'content_encoding_not_supported'],
    ['of another type', '{}', { 'content-type': 'application/json' }, 415, 'not_a_form'],
  ])(
    '[D50] a body that is not read, %s: the address asks for the page',
    async (_, body, labels, status, word) => {
      const headers = { 'content-type': 'application/x-www-form-urlencoded', origin: HOST, ...labels };
      const post = (query: string) =>
        service.fetch(`/rest/auth/embed${query}`, { method: 'POST', body, headers });
      const answer = await post('?theme=dark&answer=page');
      expect([answer.status, (await dataOf(answer)).word]).toEqual([status, word]);
      for (const query of ['', '?answer=json', '?answer']) {
        const json = await post(query);
        expect([json.status, ((await json.json()) as { error: string }).error]).toEqual([status, word]);
      }
    },
  );

  it('[D50] where nothing says who may frame the instance, any page that posts may', async () => {
    await withServiceApart({ trustedKeys }, async (open) => {
      const answer = await open.embed({ token: 'x', answer: 'page' }, { origin: 'https://any.example' });
      expect((await dataOf(answer)).host).toBe('https://any.example');
    });
  });

  it.each([
    ['switched off', { SVC_EMBED_LOGIN_ENABLED: 'false' }, 501, 'not_enabled', 1],
    ['over its limit', { SVC_TOKEN_EXCHANGE_EMBED_LOGIN_PER_MINUTE: '1' }, 429, 'too_many_requests', 2],
  ])('[D50] an endpoint that is %s answers a page as well', async (_, settings, status, word, times) => {
    const options = { trustedKeys, environment: { ...environment, ...settings } };
    await withServiceApart(options, async (other) => {
      let answer = new Response();
      for (let round = 0; round < times; round += 1)
        answer = await other.embed({ token: partner.sign(), answer: 'page' }, { origin: HOST });
      expect([answer.status, (await dataOf(answer)).word]).toEqual([status, word]);
    });
  });

  it('[D50] so does one whose licence has run out', async () => {
    const clock = new TestClock();
    const license = await licenseEnvironment({ exp: clock.nowSeconds() + 60 });
    const options = { trustedKeys, environment: { ...environment, ...license }, clock };
    await withServiceApart(options, async (other) => {
      clock.advance(120);
      const answer = await other.embed({ token: partner.sign(), answer: 'page' }, { origin: HOST });
      expect([answer.status, (await dataOf(answer)).word]).toEqual([404, 'not_found']);
    });
  });
});
