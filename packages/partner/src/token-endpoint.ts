// One request to the token endpoint, and its result.
import type { DpopKey } from './dpop-key.js';
import type { ExternalToken } from './external-token.js';
import { BACKDATED_SECONDS } from './external-token.js';
import type { PartnerErrorCode, PartnerErrorDetails } from './partner-error.js';
import { isInstanceErrorCode, PartnerError } from './partner-error.js';
import { unlessAborted } from './unless-aborted.js';

const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const JWT_TYPE = 'urn:ietf:params:oauth:token-type:jwt';
/** An access token has at most about 25 KiB, so a longer answer comes from something else. */
const LONGEST_ANSWER_BYTES = 256 * 1024;
const LONGEST_DESCRIPTION = 200;
/** `Date` has whole seconds, and an answer takes time to arrive. */
const CLOCKS_AGREE_SECONDS = 2;
/** A clock that is further ahead signs tokens that the instance refuses. Its tolerance for `iat` is 5 seconds. */
const LEEWAY_SECONDS = 5 + BACKDATED_SECONDS;
/** The shortest lifetime of an access token. */
const SHORTEST_LIFE_SECONDS = 5;
const BY_STATUS: Readonly<Record<number, PartnerErrorCode>> = {
  429: 'too_many_requests',
  503: 'temporarily_unavailable',
};

export interface TokenForm {
  readonly subject: ExternalToken;
  readonly actor: ExternalToken | undefined;
  readonly fields: Readonly<Record<string, string>>;
  /** Signs the request's proof. */
  readonly dpopKey?: DpopKey | undefined;
}

export interface TokenAnswer {
  readonly accessToken: string;
  readonly expiresInSeconds: number;
  readonly scope: readonly string[] | undefined;
}

export interface Surroundings {
  readonly url: string;
  readonly fetch: typeof fetch;
  readonly nowMs: () => number;
  readonly signal: AbortSignal;
}

type Members = Readonly<Record<string, unknown>>;

/**
 * Redirects are not followed, because they would pass the tokens on.
 * @throws PartnerError unless a token was issued; the signal's reason if it has aborted
 */
export async function requestToken(form: TokenForm, surroundings: Surroundings): Promise<TokenAnswer> {
  const { answer, members } = await postProved(form, surroundings);
  const token = answer.status === 200 ? tokenIn(members, form) : undefined;
  if (token !== undefined) return token;
  throw failureOf('The exchange', answer, members, { token: form.subject, nowMs: surroundings.nowMs() });
}

interface Answered {
  readonly answer: Response;
  readonly members: Members;
}

/** An instance that asks for a nonce has not used up the tokens. They are sent again once, with the nonce. */
async function postProved(form: TokenForm, surroundings: Surroundings, nonce?: string): Promise<Answered> {
  const { url } = surroundings;
  const proof = await form.dpopKey?.proof({ method: 'POST', url, nonce });
  const { answer, text } = await post(bodyOf(form), surroundings, proof);
  const members = membersOf(text);
  const asked = members['error'] === 'use_dpop_nonce' ? answer.headers.get('dpop-nonce') : null;
  if (asked === null || nonce !== undefined || proof === undefined) return { answer, members };
  return postProved(form, surroundings, asked);
}

/** @throws PartnerError unless the answer is an empty 200; the signal's reason if it has aborted */
export async function requestLogout(token: ExternalToken, surroundings: Surroundings): Promise<void> {
  const { answer, text } = await post(new URLSearchParams({ logout_token: token.jwt }), surroundings);
  if (answer.status === 200 && text === '') return;
  throw failureOf('The sign-out', answer, membersOf(text), { token, nowMs: surroundings.nowMs() });
}

/** Why a token was refused, as the instance's operator sees it. */
export interface Explanation {
  readonly requestId: string;
  readonly occurredAt: Date;
  readonly flow: string;
  /** The check that failed. */
  readonly check: string;
  readonly cause: string;
  readonly remedy: string;
  /** The refused token of an exchange: `subject` or `actor`. */
  readonly party?: string | undefined;
  /** The code of the cause; undefined if the user is the cause. */
  readonly reason?: string | undefined;
  readonly detail?: string | undefined;
  /** The value that the rule requires. */
  readonly expected?: string | undefined;
  /** The value that the token had. */
  readonly found?: string | undefined;
}

/** @throws PartnerError unless the answer is an explanation; the signal's reason if it has aborted */
export async function requestExplanation(
  proof: ExternalToken,
  surroundings: Surroundings,
): Promise<Explanation> {
  const { answer, text } = await post(new URLSearchParams({ proof: proof.jwt }), surroundings);
  const members = membersOf(text);
  const explanation = answer.status === 200 ? explanationIn(members) : undefined;
  if (explanation !== undefined) return explanation;
  throw failureOf('The question', answer, members, { token: proof, nowMs: surroundings.nowMs() });
}

function explanationIn(members: Members): Explanation | undefined {
  const textOf = (name: string) => (typeof members[name] === 'string' ? members[name] : undefined);
  const [requestId, flow, check] = [textOf('request_id'), textOf('flow'), textOf('check')];
  const [cause, remedy, at] = [textOf('cause'), textOf('remedy'), Date.parse(textOf('occurred_at') ?? '')];
  if (requestId === undefined || flow === undefined || check === undefined) return undefined;
  if (cause === undefined || remedy === undefined || Number.isNaN(at)) return undefined;
  const optional = ['party', 'reason', 'detail', 'expected', 'found'].map((name) => [name, textOf(name)]);
  const told = { requestId, occurredAt: new Date(at), flow, check, cause, remedy };
  return { ...told, ...(Object.fromEntries(optional) as Partial<Explanation>) };
}

async function post(
  body: URLSearchParams,
  { url, fetch: send, signal }: Surroundings,
  dpop?: string,
): Promise<{ answer: Response; text: string }> {
  const init = { method: 'POST', body, redirect: 'manual', signal } as const;
  const ask = async () => {
    const headers = { accept: 'application/json', ...(dpop === undefined ? {} : { dpop }) };
    const answer = await send(url, { ...init, headers });
    return { answer, text: await shortText(answer) };
  };
  try {
    return await unlessAborted(ask(), signal);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof PartnerError) throw error;
    const code = systemCodeOf(error);
    const message = `No answer came from the instance${code === undefined ? '' : `: ${code}`}`;
    throw new PartnerError('network_error', message, { cause: error });
  }
}

/** The code of the error or of its cause, such as ECONNREFUSED or CERT_HAS_EXPIRED: `fetch` hides it in the cause. */
function systemCodeOf(error: unknown): string | undefined {
  const { code, cause } = (error ?? {}) as { readonly code?: unknown; readonly cause?: { code?: unknown } };
  return [code, cause?.code].find(
    (each): each is string => typeof each === 'string' && /^[A-Z][A-Z\d_]{2,63}$/.test(each),
  );
}

function bodyOf({ subject, actor, fields }: TokenForm): URLSearchParams {
  return new URLSearchParams({
    grant_type: GRANT_TYPE,
    subject_token: subject.jwt,
    subject_token_type: JWT_TYPE,
    ...(actor === undefined ? {} : { actor_token: actor.jwt, actor_token_type: JWT_TYPE }),
    ...fields,
  });
}

async function shortText(answer: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of answer.body ?? []) {
    const part = chunk as Uint8Array;
    bytes += part.length;
    // Leaving the loop cancels the rest of the body.
    if (bytes > LONGEST_ANSWER_BYTES)
      throw new PartnerError('unexpected_answer', 'The answer is longer than any of the instance', {
        status: answer.status,
      });
    text += decoder.decode(part, { stream: true });
  }
  return text + decoder.decode();
}

function membersOf(text: string): Members {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Members) : {};
  } catch {
    return {};
  }
}

/** An unbound token is refused if a bound one was requested: somebody may have removed the proof. */
function tokenIn(members: Members, { dpopKey }: TokenForm): TokenAnswer | undefined {
  const { access_token: accessToken, token_type: type, expires_in: expiresIn, scope } = members;
  if (typeof accessToken !== 'string' || accessToken === '') return undefined;
  if (typeof type !== 'string' || type.toLowerCase() !== (dpopKey ? 'dpop' : 'bearer')) return undefined;
  if (typeof expiresIn !== 'number' || !(expiresIn > 0)) return undefined;
  const scopes = typeof scope === 'string' ? scope.split(' ').filter((each) => each !== '') : undefined;
  return { accessToken, expiresInSeconds: expiresIn, scope: scopes };
}

/** A request, and the time of its answer. */
interface Sent {
  readonly token: ExternalToken;
  readonly nowMs: number;
}

function failureOf(
  work: string,
  { status, headers }: Response,
  members: Members,
  { token, nowMs }: Sent,
): PartnerError {
  const { error } = members;
  const code = isInstanceErrorCode(error) ? error : (BY_STATUS[status] ?? 'unexpected_answer');
  const requestId = shortHeader(headers, 'x-request-id');
  const clockOffsetSeconds = offsetOf(headers, nowMs);
  const details: PartnerErrorDetails = {
    status,
    requestId,
    retryAfterSeconds: retryAfterOf(headers),
    clockOffsetSeconds,
  };
  const parts = [`${work} failed: ${code} (status ${status})`];
  if (isInstanceErrorCode(error)) parts.push(descriptionIn(members));
  if (requestId !== undefined) parts.push(`request ${requestId}`);
  // A 404 of `explain` gives no reason.
  if (requestId !== undefined && status === 400)
    parts.push('explain(requestId) says why, if your entry allows it');
  if (status === 400) parts.push(hintOf(clockOffsetSeconds, token));
  return new PartnerError(code, parts.filter((part) => part !== '').join('; '), details);
}

/** The instance echoes nothing. Another server might, so anything that may be a token is removed. */
function descriptionIn({ error_description: text }: Members): string {
  if (typeof text !== 'string' || text.length > LONGEST_DESCRIPTION) return '';
  return /^[ -~]+$/.test(text) && !/[\w-]{20,}/.test(text) ? text : '';
}

function shortHeader(headers: Headers, name: string): string | undefined {
  const value = headers.get(name);
  return value !== null && /^[\w.:-]{1,128}$/.test(value) ? value : undefined;
}

function retryAfterOf(headers: Headers): number | undefined {
  const value = headers.get('retry-after');
  if (value === null) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value);
  const [until, from] = [Date.parse(value), Date.parse(headers.get('date') ?? '')];
  // A time is relative to the clock of the machine that names it.
  return Number.isNaN(until) || Number.isNaN(from) ? undefined : Math.max(0, (until - from) / 1000);
}

function offsetOf(headers: Headers, nowMs: number): number | undefined {
  const theirs = Date.parse(headers.get('date') ?? '');
  return Number.isNaN(theirs) ? undefined : Math.floor(nowMs / 1000) - theirs / 1000;
}

/** A refusal never names times as its cause. This hint does, if the clocks differ enough. */
function hintOf(offset: number | undefined, token: ExternalToken): string {
  if (offset === undefined) return '';
  const difference = `the clock of this machine is ${Math.abs(offset)} seconds`;
  const lifetime = token.expiresAt - token.signedAt;
  if (offset >= LEEWAY_SECONDS)
    return `${difference} ahead of the instance's, for which the token is issued in the future: set the clock`;
  const isLate = -offset >= lifetime - SHORTEST_LIFE_SECONDS - CLOCKS_AGREE_SECONDS;
  if (-offset > CLOCKS_AGREE_SECONDS && isLate)
    return `${difference} behind the instance's, for which the token has expired or is about to: set the clock`;
  return '';
}
