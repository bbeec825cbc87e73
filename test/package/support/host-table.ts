// Sends each request to each host. Hosts differ in their form parsers and their global guards, pipes and filters.
import { gzipSync } from 'node:zlib';
import type { Partner } from '../../../demo/partner.js';
import { describeOnEmptyDatabase } from './empty-database.js';
import type { Answer, Wishes } from './host-process.js';
import { exchangeForm, HostProcess, newPartner, optionsOf } from './host-process.js';
import type { Installation } from './packed-package.js';

const PATH_PREFIX = '/auth/Partners';

const PARSERS: readonly Pick<Wishes, 'server' | 'forms'>[] = [
  { server: 'express' },
  { server: 'express', forms: 'querystring' },
  { server: 'fastify' },
];

interface Surroundings {
  readonly title: string;
  /** What the paths of the endpoints begin with. */
  readonly base: string;
  readonly wishes: Partial<Wishes>;
  readonly pathPrefix?: string;
}

const SURROUNDINGS: readonly Surroundings[] = [
  { title: 'nothing else', base: '/rest/auth', wishes: {} },
  { title: 'furniture and a prefix', base: '/v2/rest/auth', wishes: { isFurnished: true } },
  { title: 'versions', base: PATH_PREFIX, wishes: { isVersioned: true }, pathPrefix: PATH_PREFIX },
  { title: 'a login', base: '/rest/auth', wishes: { guard: 'with-exemption' } },
];

interface Request {
  readonly title: string;
  /** Default: the token endpoint. */
  readonly path?: string;
  /** Default: POST. */
  readonly method?: 'GET';
  /** The fields. If they begin with `&`, they are appended to the fields of a valid exchange. */
  readonly body?: (partner: Partner) => string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  readonly status: number;
  /** Where the answer is the package's. */
  readonly answer?: unknown;
}

const refused = (description: string) => ({ error: 'invalid_request', error_description: description });
const NOT_A_FORM = refused('Content-Type must be application/x-www-form-urlencoded');
const FORM = 'application/x-www-form-urlencoded';
const LATIN_1 = { 'content-type': `${FORM}; charset=ISO-8859-1` };
const ISSUED = {
  access_token: expect.any(String) as string,
  token_type: 'Bearer',
  expires_in: expect.any(Number) as number,
  issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
};
const behindGood = (rest: string) => (partner: Partner) => exchangeForm(partner.sign()) + rest;
/** Beyond what any of the parsers takes. */
const TOO_LARGE_BYTES = 1_500_000;

const REQUESTS: readonly Request[] = [
  { title: 'an exchange', status: 200, answer: ISSUED },
  {
    title: 'repeated fields that may be, or are not known',
    body: behindGood('&resource=urn:a&resource=urn:b&audience=a&audience=b&x=1&x=2&y[]=1&z[a][b]=1'),
    status: 200,
    answer: ISSUED,
  },
  {
    title: 'a repeated token',
    body: behindGood('&subject_token=again'),
    status: 400,
    answer: refused('subject_token must not be given more than once'),
  },
  {
    title: 'an actor in an array',
    body: behindGood('&actor_token[]=a&actor_token[]=b'),
    status: 400,
    answer: { error: 'invalid_request', error_description: expect.stringMatching(/^actor_token must /) },
  },
  {
    title: 'JSON',
    body: () => '{"subject_token":"a"}',
    headers: { 'content-type': 'application/json' },
    status: 415,
    answer: NOT_A_FORM,
  },
  {
    title: 'a compressed form',
    body: (partner) => gzipSync(exchangeForm(partner.sign())),
    headers: { 'content-encoding': 'gzip' },
    status: 415,
    answer: refused('The body must not have a Content-Encoding'),
  },
  { title: 'another charset', headers: { 'content-type': `${FORM}; charset=utf-16` }, status: 415 },
  {
    title: 'a form in ASCII that says it is ISO-8859-1',
    headers: LATIN_1,
    status: 200,
    answer: ISSUED,
  },
  { title: 'what no parser takes', body: () => 'x'.repeat(TOO_LARGE_BYTES), status: 413 },
  {
    title: 'a login',
    path: '/embed',
    body: (partner) => `token=${partner.sign()}`,
    status: 303,
    answer: {},
  },
  {
    title: 'a login by GET',
    path: '/embed?token=',
    method: 'GET',
    body: (partner) => partner.sign(),
    status: 303,
    answer: {},
  },
];

/**
 * Twelve hosts, each of which gets every request.
 * @param expressTakesUtf8Alone Express's parser refuses forms of any other charset, as in NestJS 11.0.1
 */
export function declareHostTable(
  installed: () => Installation,
  { expressTakesUtf8Alone = false }: { readonly expressTakesUtf8Alone?: boolean } = {},
): void {
  for (const { title, base, wishes, pathPrefix } of SURROUNDINGS)
    for (const parser of PARSERS) {
      const { server, forms = 'its own parser' } = parser;
      describeOnEmptyDatabase(`${server} with ${forms} and ${title}`, (database) => {
        const partner = newPartner();
        const isRefused = ({ headers }: Request) =>
          headers === LATIN_1 && server === 'express' && expressTakesUtf8Alone;
        const requests = REQUESTS.map((request) =>
          isRefused(request) ? { ...request, status: 415, answer: undefined } : request,
        );
        const host = HostProcess.forBlock(() => {
          const given = { ...parser, ...wishes, parts: 'defaults', databaseUrl: database().url } as const;
          const options = optionsOf(partner, given);
          return { ...options, settings: { ...options.settings, pathPrefix } };
        }, installed);

        const sent = ({ path = '/oauth/token', method, body, headers }: Request): Promise<Answer> => {
          const content = body?.(partner) ?? exchangeForm(partner.sign());
          if (method === 'GET') return host.call(base + path + String(content));
          return host.call(base + path, {
            method: 'POST',
            body: Buffer.from(content),
            headers: { 'content-type': FORM, ...headers },
          });
        };

        it.each(requests.map((request) => [request.title, request] as const))('%s', async (_, request) => {
          const { status, body } = await sent(request);
          expect([status, request.answer === undefined ? undefined : body]).toEqual([
            request.status,
            request.answer,
          ]);
        });
      });
    }
}
