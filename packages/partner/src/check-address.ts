// Checks of the address: TLS, metadata, proxies.
import type { Check, Integration } from './check-integration.js';
import { failedBy, TOKEN_PATH, unexpected } from './check-integration.js';
import type { Answer } from './check-requests.js';
import type { Verdict } from './check-verdict.js';
import { PASSED, skipped } from './check-verdict.js';

const METADATA_PATH = '/.well-known/oauth-authorization-server';
export const KEY_SET_PATH = '/.well-known/jwks.json';
/** The header that the instance sends over HTTPS. */
const OWN_HSTS = 'max-age=31536000; includeSubDomains';
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k'];
/** Addresses of TEST-NET-3 (RFC 5737), which no client has. */
const ELSEWHERE = '203.0.113.';

export const ADDRESS_CHECKS: readonly Check[] = [
  {
    id: 'connection',
    title: 'The base URL leads to an instance, with a valid certificate',
    run: connection,
  },
  { id: 'metadata', title: 'The metadata names the base URL', run: metadata },
  { id: 'key-set', title: 'The key set has public keys only', run: keySet },
  { id: 'forwarded-proto', title: 'The instance knows that the request came by HTTPS', run: forwardedProto },
  { id: 'request-id', title: 'No client chooses the id of its request', run: requestId },
  {
    id: 'client-address',
    title: 'No client chooses the address that is counted',
    flow: 'exchange',
    run: clientAddress,
  },
];

async function connection({ requests }: Integration): Promise<Verdict> {
  const answer = await requests.get('/healthz');
  return answer.status === 200 && answer.members['status'] === 'ok'
    ? PASSED
    : unexpected(answer, '200 from /healthz');
}

async function metadata({ requests, settings: { baseUrl } }: Integration): Promise<Verdict> {
  const answer = await requests.get(METADATA_PATH);
  if (answer.status !== 200) return unexpected(answer, `200 from ${METADATA_PATH}`);
  const { issuer, token_endpoint: endpoint } = answer.members;
  if (issuer === baseUrl && endpoint === `${baseUrl}${TOKEN_PATH}`) return PASSED;
  return failedBy(answer, {
    found: `the metadata names ${shown(issuer)}, and --base-url is ${shown(baseUrl)}`,
    cause: 'The instance has another base address: access tokens and DPoP proofs are for that address.',
    remedy:
      'The administrator sets SVC_BASE_URL to the address that partners use, on every instance. ' +
      'If the metadata is right, use its address as --base-url and as the audience.',
  });
}

async function keySet({ requests }: Integration): Promise<Verdict> {
  const answer = await requests.get(KEY_SET_PATH);
  const { keys } = answer.members;
  if (answer.status !== 200 || !Array.isArray(keys) || keys.length === 0)
    return unexpected(answer, `a key set at ${KEY_SET_PATH}`);
  const isPrivate = (key: object) => PRIVATE_MEMBERS.some((name) => Object.hasOwn(key, name));
  return (keys as object[]).some(isPrivate) ? unexpected(answer, 'public keys only') : PASSED;
}

/** The instance sends HSTS only if it knows that the client uses HTTPS (RFC 6797 §7.2). */
async function forwardedProto({ requests, settings: { baseUrl } }: Integration): Promise<Verdict> {
  if (baseUrl.startsWith('http:')) return skipped('the base URL is http:');
  const answer = await requests.get('/healthz');
  const values = String(answer.headers['strict-transport-security'] ?? '').split(/, */);
  if (values.includes(OWN_HSTS)) return PASSED;
  if (values[0] !== '')
    return skipped('a proxy replaces Strict-Transport-Security, by which the instance shows that it knows');
  return failedBy(answer, {
    found: 'an HTTPS answer without Strict-Transport-Security',
    cause:
      'The instance takes the request for plain HTTP: the proxy does not send X-Forwarded-Proto, ' +
      'or the instance does not trust the proxy.',
    remedy:
      'Let the proxy that ends TLS set X-Forwarded-Proto to https, and set SVC_PROXY_HOPS to the number of proxies. ' +
      'deploy/reverse-proxies has configurations.',
  });
}

async function requestId({ requests }: Integration): Promise<Verdict> {
  const chosen = 'chosen-by-the-check-of-a-partner';
  const answer = await requests.get('/healthz', { 'x-request-id': chosen });
  if (answer.requestId === undefined) return unexpected(answer, 'an X-Request-Id');
  if (answer.requestId !== chosen) return PASSED;
  return failedBy(answer, {
    found: 'the instance has used the X-Request-Id of the request',
    cause:
      'The proxy passes on the X-Request-Id of clients, and the instance trusts the proxy (SVC_PROXY_HOPS).',
    remedy: 'Let the first proxy overwrite X-Request-Id. deploy/reverse-proxies has configurations.',
  });
}

/** The limit counts by address. A client that can choose its address gets a new count. */
async function clientAddress({ requests }: Integration): Promise<Verdict> {
  const send = async (headers = {}) => requests.post(TOKEN_PATH, {}, headers);
  const ordinary = await send();
  const address = `${ELSEWHERE}${1 + Math.floor(Math.random() * 254)}`;
  const elsewhere = await send({ 'x-forwarded-for': address, forwarded: `for=${address}` });
  const again = await send();
  const [first, second, third] = [ordinary, elsewhere, again].map(remainingOf);
  if (first === undefined || second === undefined || third === undefined)
    return skipped('the answers have no RateLimit-Remaining');
  // If the count continues after the request from elsewhere, it did not end by itself.
  const isOther = second > first && third < first;
  if (!isOther) return PASSED;
  return failedBy(elsewhere, {
    found: `RateLimit-Remaining is ${first}, then ${second} with another X-Forwarded-For, then ${third}`,
    cause: 'The instance believes the X-Forwarded-For of clients, so each client can avoid the limits.',
    remedy:
      'Let the first proxy overwrite X-Forwarded-For, and set SVC_PROXY_HOPS to the number of proxies, not more.',
  });
}

function remainingOf({ headers }: Answer): number | undefined {
  const value = headers['ratelimit-remaining'];
  return typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : undefined;
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 200);
}
