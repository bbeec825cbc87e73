// Checks of the two flows with good tokens.
import type { JSONWebKeySet } from 'jose';
import { createLocalJWKSet, decodeJwt, jwtVerify } from 'jose';
import { KEY_SET_PATH } from './check-address.js';
import { CLOCKS_DIFFER, LEEWAY_SECONDS, sideOf } from './check-clock.js';
import type { Check, Integration } from './check-integration.js';
import { failedBy, isAccepted, unexpected } from './check-integration.js';
import type { Flow } from './check-options.js';
import type { Answer } from './check-requests.js';
import type { Fault, Verdict } from './check-verdict.js';
import { inWords, PASSED, skipped } from './check-verdict.js';

const ACCESS_TOKEN_TYPE = 'urn:ietf:params:oauth:token-type:access_token';
const COOKIE = '__Host-svc-session';
const COOKIE_ATTRIBUTES = ['HttpOnly', 'Path=/', 'SameSite=None', 'Secure'];
/** If a request reaches one of two instances at random, all of them reach the same one in one run of 128. */
const CALLS = 8;
const EXCHANGES = 2;
const NO_ACCESS_TOKEN = skipped('no access token was issued');
const NO_SESSION = skipped('no session was opened');
const DIFFERENT_TRUST = {
  cause: 'The instances behind this address do not trust the same keys.',
  remedy:
    'The administrator gives every instance the same SVC_TOKEN_EXCHANGE_TRUSTED_KEYS and the same database, ' +
    'and compares `svc-admin keys check` on each.',
};
const DIFFERENT_KEYS = {
  cause:
    'The instances behind this address sign access tokens with different keys: they do not share a database.',
  remedy:
    'The administrator gives every instance the same SVC_DATABASE_URL, SVC_ENCRYPTION_KEY and SVC_BASE_URL. ' +
    'An embedded database belongs to one instance only.',
};

export const FLOW_CHECKS: readonly Check[] = [
  { id: 'exchange', title: 'A good token is exchanged', flow: 'exchange', run: exchange },
  { id: 'login', title: 'A good token signs in', flow: 'embed', run: login },
  {
    id: 'access-token',
    title: 'The access token is for this address, by a published key',
    flow: 'exchange',
    run: accessToken,
  },
  { id: 'api', title: 'The API accepts the access token', flow: 'exchange', run: api },
  { id: 'instances', title: 'All instances behind the address agree', flow: 'exchange', run: instances },
  { id: 'cookie', title: 'The cookie works in a frame', flow: 'embed', run: cookie },
  { id: 'session', title: 'The session is the same user', flow: 'embed', run: session },
  { id: 'redirect', title: 'A login leads to no other site', flow: 'embed', run: redirect },
];

async function exchange(integration: Integration): Promise<Verdict> {
  const verdict = await goodToken(integration, 'exchange');
  if (!('accepted' in verdict)) return verdict;
  const { members } = verdict.accepted;
  const { access_token: token, expires_in: seconds } = members;
  const isRight =
    typeof token === 'string' &&
    members['token_type'] === 'Bearer' &&
    members['issued_token_type'] === ACCESS_TOKEN_TYPE &&
    Number.isInteger(seconds);
  if (!isRight) return unexpected(verdict.accepted, 'an access token of the type Bearer');
  integration.accessToken = token;
  noteIssue(integration, verdict.accepted);
  if (verdict.accepted.headers['cache-control'] !== 'no-store')
    return unexpected(verdict.accepted, 'Cache-Control: no-store');
  return verdict.refused === undefined ? PASSED : differentTrust(verdict.refused);
}

async function login(integration: Integration): Promise<Verdict> {
  const verdict = await goodToken(integration, 'embed');
  if (!('accepted' in verdict)) return verdict;
  integration.cookie = cookieOf(verdict.accepted)?.split(';')[0];
  return verdict.refused === undefined ? PASSED : differentTrust(verdict.refused);
}

/** A second token tells a refusal by one instance from a refusal by all. */
async function goodToken(
  integration: Integration,
  flow: Flow,
): Promise<Verdict | { accepted: Answer; refused: Answer | undefined }> {
  const send = async () => integration.present(flow, await integration.tokens.signed(flow));
  const first = await send();
  const second = isAccepted(flow, first) ? undefined : await send();
  const accepted = [first, second].find((answer) => answer !== undefined && isAccepted(flow, answer));
  if (accepted === undefined) return failedBy(first, refusalOf(integration, first));
  integration.working.add(flow);
  return { accepted, refused: second === undefined ? undefined : first };
}

function differentTrust(refused: Answer): Verdict {
  return failedBy(refused, {
    found: `a good token was refused, and another one accepted: ${inWords(refused)}`,
    ...DIFFERENT_TRUST,
  });
}

/** The instance's clock sets the times of an access token. A proxy may set `Date`. */
function noteIssue({ requests }: Integration, answer: Answer): void {
  try {
    const { iat } = decodeJwt(String(answer.members['access_token']));
    if (typeof iat === 'number') requests.noteTime(Math.floor(iat), answer);
  } catch {
    // It is not an access token. Other checks report that.
  }
}

/** By the error code of a login. An exchange names no cause (RFC 6749 §5.2 has only `invalid_grant`). */
const REMEDIES: Readonly<Record<string, string>> = {
  audience_mismatch: 'Pass the expectedAudience of your trusted key entry as --audience.',
  key_unknown: 'Compare --issuer and --kid with your trusted key entry, character by character.',
  signature_invalid: 'Compare the thumbprint of --key with the registered key: another key has this kid.',
  algorithm_not_allowed: 'Compare --alg with the algorithms of your trusted key entry.',
  not_enabled: 'The administrator switches the flow on, or you leave it out of --flows.',
  server_error: 'The administrator switches the flow on, or you leave it out of --flows.',
  not_found: 'The administrator sets SVC_ENV_FEAT_TOKEN_EXCHANGE and a licence with token exchange.',
  invalid_dpop_proof:
    'Your entry requires DPoP, which this program does not use: leave exchange out of --flows.',
};
/** If a good token is refused because of its times, the clocks differ, even if a proxy sets `Date`. */
const OF_TIMES: Readonly<Record<string, 'ahead' | 'behind'>> = {
  token_expired: 'ahead',
  token_issued_in_future: 'behind',
};
const OTHERWISE =
  'Look the error code up in docs/refusals.md, or give the request id to the administrator. ' +
  'A new user needs --email with an address that your entry allows.';

function refusalOf(integration: Integration, answer: Answer): Omit<Fault, 'requestId'> {
  const { requests } = integration;
  const { error, message } = answer.members;
  const code = typeof error === 'string' ? error : '';
  const found = `a good token was refused: ${inWords(answer)}`;
  const isLate = code === 'invalid_grant' && Math.abs(requests.offset) > LEEWAY_SECONDS;
  const side = isLate ? sideOf(requests.offset) : OF_TIMES[code];
  if (side !== undefined) {
    integration.clockRefusal ??= { found, side };
    return { found, ...CLOCKS_DIFFER[side] };
  }
  const cause =
    code === 'invalid_grant'
      ? 'Only the log of the instance has the cause. The check `login` may name it.'
      : `The instance says: ${typeof message === 'string' ? message.slice(0, 200) : 'nothing'}.`;
  return { found, cause, remedy: REMEDIES[code] ?? OTHERWISE };
}

async function accessToken(integration: Integration): Promise<Verdict> {
  const { requests, settings, accessToken: token } = integration;
  if (token === undefined) return NO_ACCESS_TOKEN;
  const answer = await requests.get(KEY_SET_PATH);
  if (!Array.isArray(answer.members['keys'])) return unexpected(answer, 'a key set');
  try {
    // The clock has a check of its own.
    const currentDate = new Date((decodeJwt(token).iat ?? 0) * 1000);
    await jwtVerify(token, createLocalJWKSet(answer.members as unknown as JSONWebKeySet), {
      ...{ issuer: settings.baseUrl, audience: settings.baseUrl },
      ...{ typ: 'at+jwt', algorithms: ['ES256'], currentDate },
    });
    return PASSED;
  } catch (error) {
    return failedBy(answer, notVerified(settings.baseUrl, token, error as Error & { code?: string }));
  }
}

function notVerified(baseUrl: string, token: string, error: { code?: string }): Omit<Fault, 'requestId'> {
  const found = `the access token does not verify (${error.code ?? 'it is no JWT'})`;
  if (error.code === 'ERR_JWKS_NO_MATCHING_KEY') return { found, ...DIFFERENT_KEYS };
  const { iss } = decodeJwt(token);
  const isElsewhere = typeof iss === 'string' && iss !== baseUrl;
  return {
    found: isElsewhere ? `the access token is issued by ${JSON.stringify(iss.slice(0, 200))}` : found,
    cause: isElsewhere
      ? 'The instance has another base address than --base-url.'
      : 'The access token is not as RFC 9068 says, or is by a key that is not published.',
    remedy: 'The administrator sets SVC_BASE_URL to the address that partners use, on every instance.',
  };
}

async function api(integration: Integration): Promise<Verdict> {
  const { accessToken: token } = integration;
  if (token === undefined) return NO_ACCESS_TOKEN;
  // One instance that knows the token is enough here. The check `instances` asks all of them.
  for (let call = 1; ; call += 1) {
    const answer = await integration.whoAmI({ authorization: `Bearer ${token}` });
    if (answer.status === 200) {
      integration.userId = userIdOf(answer);
      return PASSED;
    }
    if (call < CALLS) continue;
    return failedBy(answer, {
      found: `/rest/me answered ${inWords(answer)} to a new access token`,
      cause:
        'The access token was not accepted by the address that has issued it, or a proxy removes Authorization.',
      remedy:
        'Let the proxy pass on Authorization, and compare SVC_BASE_URL of all instances with --base-url.',
    });
  }
}

/** Several instances take turns, so requests of one kind are sent one after the other. */
async function instances(integration: Integration): Promise<Verdict> {
  const { accessToken: token, tokens } = integration;
  if (token === undefined) return NO_ACCESS_TOKEN;
  const exchanges: Answer[] = [];
  for (let each = 0; each < EXCHANGES; each += 1) {
    const answer = await integration.present('exchange', await tokens.signed('exchange'));
    noteIssue(integration, answer);
    exchanges.push(answer);
  }
  const calls: Answer[] = [];
  for (let call = 0; call < CALLS; call += 1)
    calls.push(await integration.whoAmI({ authorization: `Bearer ${token}` }));
  const untrusting = exchanges.find((answer) => !isAccepted('exchange', answer));
  if (untrusting !== undefined) return differentTrust(untrusting);
  const refused = calls.filter(({ status }) => status === 401);
  if (refused[0] === undefined) return PASSED;
  return failedBy(refused[0], {
    found: `of ${CALLS} calls with one access token ${refused.length} were refused`,
    ...DIFFERENT_KEYS,
  });
}

async function cookie(integration: Integration): Promise<Verdict> {
  if (!integration.working.has('embed')) return NO_SESSION;
  const answer = await integration.present('embed', await integration.tokens.signed('embed'));
  const [pair = '', ...attributes] = (cookieOf(answer) ?? '').split(/; */);
  const missing = COOKIE_ATTRIBUTES.filter((name) => !attributes.includes(name));
  if (pair.startsWith(`${COOKIE}=`) && missing.length === 0) return PASSED;
  return failedBy(answer, {
    found:
      pair === '' ? 'a login without a session cookie' : `a session cookie without ${missing.join(', ')}`,
    cause: 'A proxy removes or changes Set-Cookie, so browsers do not send the cookie in a frame.',
    remedy: 'Let the proxy pass on Set-Cookie as it is: no rewriting of paths, domains or flags.',
  });
}

async function session(integration: Integration): Promise<Verdict> {
  const { cookie: value, userId } = integration;
  if (value === undefined) return NO_SESSION;
  const answer = await integration.whoAmI({ cookie: value });
  if (answer.status !== 200)
    return failedBy(answer, {
      found: `/rest/me answered ${inWords(answer)} to a new session`,
      cause: 'The instances behind this address do not share a database, or a proxy removes Cookie.',
      remedy: `${DIFFERENT_KEYS.remedy} Let the proxy pass on Cookie.`,
    });
  if (userId === undefined || userIdOf(answer) === userId) return PASSED;
  return failedBy(answer, {
    found: 'the access token and the session belong to different users',
    ...DIFFERENT_KEYS,
  });
}

async function redirect(integration: Integration): Promise<Verdict> {
  if (!integration.working.has('embed')) return NO_SESSION;
  const token = await integration.tokens.signed('embed');
  const answer = await integration.present('embed', token, { redirectTo: '//elsewhere.example/' });
  const { location } = answer.headers;
  return answer.status === 303 && location === '/' ? PASSED : unexpected(answer, '303 to the path /');
}

function cookieOf({ headers }: Answer): string | undefined {
  return headers['set-cookie']?.find((each) => each.startsWith(`${COOKIE}=`));
}

function userIdOf({ members: { user } }: Answer): unknown {
  return typeof user === 'object' && user !== null && 'id' in user ? user.id : undefined;
}
