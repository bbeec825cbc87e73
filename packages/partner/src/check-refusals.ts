// Checks of the two flows with tokens that must be refused.
import type { Check, Integration } from './check-integration.js';
import { failedBy, isAccepted, NO_GOOD_TOKEN, TOKEN_PATH, unexpected } from './check-integration.js';
import type { Flow } from './check-options.js';
import type { Answer } from './check-requests.js';
import type { CheckTokens } from './check-tokens.js';
import type { Fault, Verdict } from './check-verdict.js';
import { inWords, PASSED, skipped } from './check-verdict.js';

/** A token with one defect, and the error code of the login that refuses it. */
type BadToken = readonly [code: string, make: (tokens: CheckTokens, flow: Flow) => Promise<string>];

interface BadTokens {
  readonly id: string;
  readonly title: string;
  readonly flow?: Flow;
  readonly tokens: readonly BadToken[];
  /** The verdict if one is accepted. */
  readonly accepted?: Pick<Fault, 'cause' | 'remedy'>;
}

const NOT_VERIFIED = {
  cause: 'The instance accepts a token that its contract refuses.',
  remedy: 'Stop using this instance, and report it privately to its administrator.',
};
const WRONG_CLOCK = {
  cause: 'The clock of an instance is wrong.',
  remedy: 'Run NTP on every instance.',
};
const APART = {
  cause: 'The instances behind this address do not share a database, so each accepts a token once.',
  remedy: 'The administrator gives every instance the same SVC_DATABASE_URL.',
};

const BAD_TOKENS: readonly BadTokens[] = [
  {
    id: 'expired',
    title: 'An expired token is refused',
    tokens: [['token_expired', (tokens, flow) => tokens.moved(flow, -600)]],
    accepted: WRONG_CLOCK,
  },
  {
    id: 'future',
    title: 'A token that is issued in the future is refused',
    tokens: [['token_issued_in_future', (tokens, flow) => tokens.moved(flow, 120)]],
    accepted: WRONG_CLOCK,
  },
  {
    id: 'login-lifetime',
    title: 'A login with a token of 90 seconds is refused',
    flow: 'embed',
    tokens: [['token_lifetime_exceeded', (tokens, flow) => tokens.longLived(flow)]],
  },
  {
    id: 'audience',
    title: 'A token for another audience is refused',
    tokens: [
      ['audience_mismatch', (tokens, flow) => tokens.signed(flow, { aud: 'https://elsewhere.example' })],
    ],
    accepted: {
      cause:
        'Your trusted key entry has no expectedAudience, so your tokens for other services are good here.',
      remedy: 'The administrator sets expectedAudience in your entry, or SVC_TOKEN_EXCHANGE_STRICT=true.',
    },
  },
  {
    id: 'signature',
    title: 'A changed token and another issuer are refused',
    tokens: [
      ['signature_invalid', (tokens, flow) => tokens.tampered(flow)],
      ['key_unknown', (tokens, flow) => tokens.signed(flow, { iss: 'https://elsewhere.example' })],
    ],
  },
  {
    id: 'algorithm',
    title: 'No signature and an HMAC are refused',
    tokens: [
      ['algorithm_not_allowed', (tokens, flow) => tokens.unsigned(flow)],
      ['algorithm_not_allowed', (tokens, flow) => tokens.hmac(flow)],
    ],
  },
  {
    id: 'header',
    title: 'A header without kid, with crit, or of another type is refused',
    tokens: [
      ['kid_missing', (tokens, flow) => tokens.signed(flow, {}, { kid: undefined })],
      [
        'header_not_allowed',
        (tokens, flow) => tokens.signed(flow, {}, { crit: ['check-extension'], 'check-extension': true }),
      ],
      ['token_type_not_allowed', (tokens, flow) => tokens.signed(flow, {}, { typ: 'at+jwt' })],
    ],
  },
];

export const REFUSAL_CHECKS: readonly Check[] = [
  { id: 'replay', title: 'A token is accepted once, over both flows', run: replay },
  ...BAD_TOKENS.map((bad): Check => {
    const { id, title } = bad;
    const run = (integration: Integration) => refusesAll(integration, bad);
    return bad.flow === undefined ? { id, title, run } : { id, title, flow: bad.flow, run };
  }),
  { id: 'claims', title: 'A token without jti is refused', run: claims },
  { id: 'error-bodies', title: 'Refused exchanges do not tell why', flow: 'exchange', run: errorBodies },
];

/** The answer of a flow's refusal (docs/endpoints.md). */
function isRefusal(flow: Flow, { status, members: { error } }: Answer, code: string): boolean {
  return flow === 'exchange' ? status === 400 && error === 'invalid_grant' : status === 401 && error === code;
}

async function refusesAll(integration: Integration, bad: BadTokens): Promise<Verdict> {
  const flows = workingFlows(integration, bad.flow);
  if (flows.length === 0) return NO_GOOD_TOKEN;
  for (const [code, make] of bad.tokens)
    for (const flow of flows) {
      const answer = await integration.present(flow, await make(integration.tokens, flow));
      const verdict = refused(flow, answer, [code, bad.accepted ?? NOT_VERIFIED]);
      if (verdict.status !== 'passed') return verdict;
    }
  return PASSED;
}

function refused(
  flow: Flow,
  answer: Answer,
  [code, accepted]: [code: string, accepted: Pick<Fault, 'cause' | 'remedy'>],
): Verdict {
  if (isRefusal(flow, answer, code)) return PASSED;
  if (isAccepted(flow, answer))
    return failedBy(answer, { found: `${flow} accepted the token, expected ${code}`, ...accepted });
  return unexpected(answer, flow === 'exchange' ? '400 invalid_grant' : `401 ${code}`);
}

/** Sent so often that each of two instances in turn gets it, even with another request in between. */
async function replay(integration: Integration): Promise<Verdict> {
  const flows = workingFlows(integration);
  const [flow] = flows;
  if (flow === undefined) return NO_GOOD_TOKEN;
  const token = await integration.tokens.signed('embed');
  const first = await integration.present(flow, token);
  if (!isAccepted(flow, first)) return unexpected(first, 'a good token to be accepted');
  for (const again of [flow, flow, ...flows.slice(1)]) {
    const verdict = refused(again, await integration.present(again, token), ['token_replayed', APART]);
    if (verdict.status !== 'passed') return verdict;
  }
  return PASSED;
}

async function claims(integration: Integration): Promise<Verdict> {
  const flows = workingFlows(integration);
  if (flows.length === 0) return NO_GOOD_TOKEN;
  for (const flow of flows) {
    const token = await integration.tokens.signed(flow, { jti: undefined });
    const answer = await integration.present(flow, token);
    const expected = flow === 'exchange' ? '400 invalid_request' : '500 claims_invalid';
    if (isAccepted(flow, answer))
      return failedBy(answer, { found: `${flow} accepted the token, expected ${expected}`, ...NOT_VERIFIED });
    if (inWords(answer) !== expected) return unexpected(answer, expected);
  }
  return PASSED;
}

async function errorBodies({ requests, refusals }: Integration): Promise<Verdict> {
  const answer = await requests.post(TOKEN_PATH, { grant_type: 'password' });
  if (inWords(answer) !== '400 unsupported_grant_type')
    return unexpected(answer, '400 unsupported_grant_type');
  const [first] = refusals;
  if (first === undefined) return skipped('no exchange was refused');
  const odd = refusals.find(
    ({ text, headers, requestId }) =>
      text !== first.text ||
      !/^application\/json\b/.test(headers['content-type'] ?? '') ||
      headers['cache-control'] !== 'no-store' ||
      requestId === undefined,
  );
  if (odd === undefined) return PASSED;
  return failedBy(odd, {
    found: 'refusals that differ, or have another Content-Type or Cache-Control, or no X-Request-Id',
    cause:
      'A proxy replaces error pages or removes headers, so callers see neither the error nor its request id.',
    remedy: 'Let the proxy pass on answers with an error status as they are.',
  });
}

/** The flows that have accepted a good token. */
function workingFlows({ settings, working }: Integration, only?: Flow): Flow[] {
  return settings.flows.filter((flow) => working.has(flow) && (only === undefined || flow === only));
}
