// Shared by the checks of an integration: requests, tokens and findings of earlier checks.
import type { Side } from './check-clock.js';
import type { CheckSettings, Flow } from './check-options.js';
import type { Answer } from './check-requests.js';
import { InstanceRequests } from './check-requests.js';
import { CheckTokens } from './check-tokens.js';
import type { Fault, Verdict } from './check-verdict.js';
import { failed, inWords, skipped } from './check-verdict.js';
import type { PartnerClock } from './clock.js';

export const TOKEN_PATH = '/rest/auth/oauth/token';
export const EMBED_PATH = '/rest/auth/embed';
export const USER_PATH = '/rest/me';
const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:token-exchange';

export interface Check {
  readonly id: string;
  /** The statement that is true if the check passes. */
  readonly title: string;
  /** The check runs only if this flow is checked. */
  readonly flow?: Flow;
  readonly run: (integration: Integration) => Promise<Verdict>;
}

export class Integration {
  readonly requests: InstanceRequests;
  readonly tokens: CheckTokens;
  /** Flows that have accepted a good token. Only their refusals are meaningful. */
  readonly working = new Set<Flow>();
  /** Refused exchanges, whose bodies must not differ. */
  readonly refusals: Answer[] = [];
  accessToken: string | undefined;
  /** `name=value` of the session. */
  cookie: string | undefined;
  /** A good token was refused because of its times. */
  clockRefusal: { readonly found: string; readonly side: Side } | undefined;
  /** The instance's id of the access token's user. */
  userId: unknown;

  constructor(
    readonly settings: CheckSettings,
    readonly clock: PartnerClock,
  ) {
    this.requests = new InstanceRequests(settings.baseUrl, settings.perMinute, clock);
    this.tokens = new CheckTokens(settings, clock);
  }

  /** Sends a token to a flow. */
  async present(flow: Flow, token: string, fields: Readonly<Record<string, string>> = {}): Promise<Answer> {
    if (flow === 'embed') return this.requests.post(EMBED_PATH, { token, ...fields });
    const answer = await this.requests.post(TOKEN_PATH, {
      grant_type: GRANT_TYPE,
      subject_token: token,
      ...fields,
    });
    if (answer.members['error'] === 'invalid_grant') this.refusals.push(answer);
    return answer;
  }

  whoAmI(headers: Readonly<Record<string, string>>): Promise<Answer> {
    return this.requests.get(USER_PATH, headers);
  }
}

/** Whether a flow has accepted a token. */
export function isAccepted(flow: Flow, { status }: Answer): boolean {
  return status === (flow === 'exchange' ? 200 : 303);
}

/** A failure whose request the administrator can find. */
export function failedBy(answer: Answer, fault: Omit<Fault, 'requestId'>): Verdict {
  return failed({ ...fault, requestId: answer.requestId });
}

export function unexpected(answer: Answer, expected: string): Verdict {
  return failedBy(answer, {
    found: `${inWords(answer)}, expected ${expected}`,
    cause:
      'The instance, or a proxy before it, answers differently from its documentation (docs/endpoints.md).',
    remedy: 'Send the request id to the administrator. If it is missing, a proxy has answered.',
  });
}

export const NO_GOOD_TOKEN = skipped('no good token was accepted, so a refusal proves nothing');
