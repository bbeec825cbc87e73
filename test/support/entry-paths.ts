// The four ways in which an external token enters the service: both methods of embedded login, subject and actor.
import type { TestService } from './test-service.js';

/** The answer of the token endpoint to every refused token (7.5, D14). */
export const INVALID_GRANT = '{"error":"invalid_grant","error_description":"Token exchange failed"}';
/** Its answer to missing or mistyped claims of a signed token (7.6). */
export const INVALID_CLAIMS =
  '{"error":"invalid_request","error_description":"Token claims validation failed"}';

export const EXCHANGE_PATH = '/rest/auth/oauth/token';
export const EMBED_PATH = '/rest/auth/embed';

/** One way to send a token. */
export interface EntryPath {
  readonly name: string;
  readonly flow: 'embed' | 'exchange';
  /** The tried token of an exchange. */
  readonly party?: 'subject' | 'actor';
  /**
   * Sends a token this way.
   * @param subject makes the valid subject token that must accompany an actor token
   */
  send(service: TestService, token: string, subject: () => string): Promise<Response>;
}

const embedGet: EntryPath = {
  name: 'embed GET',
  flow: 'embed',
  send: (service, token) => service.fetch(`${EMBED_PATH}?token=${encodeURIComponent(token)}`),
};

const embedPost: EntryPath = {
  name: 'embed POST',
  flow: 'embed',
  send: (service, token) => service.embed({ token }),
};

const exchangeSubject: EntryPath = {
  name: 'exchange subject',
  flow: 'exchange',
  party: 'subject',
  send: (service, token) => service.exchange({ subject_token: token }),
};

const exchangeActor: EntryPath = {
  name: 'exchange actor',
  flow: 'exchange',
  party: 'actor',
  send: (service, token, subject) => service.exchange({ subject_token: subject(), actor_token: token }),
};

export const ENTRY_PATHS: readonly EntryPath[] = [embedGet, embedPost, exchangeSubject, exchangeActor];
/** One path for each flow, for tests in which method and party make no difference. */
export const BOTH_FLOWS: readonly EntryPath[] = [embedPost, exchangeSubject];

/** Whether an external token was accepted. */
export function isAccepted({ status }: Response): boolean {
  return status === 200 || status === 303;
}

/** The same in words, with the status of a refusal, for expectations that name what differs. */
export function outcomeOf(answer: Response): string {
  return isAccepted(answer) ? 'accepted' : `refused with ${answer.status}`;
}

/** The answer of `GET /rest/me`. */
export interface Me {
  user: { id: string; email: string; givenName: string; familyName: string; role: string };
  onBehalfOf: { id: string } | null;
  authentication: 'session' | 'access_token';
  expiresAt: string;
}

/** The headers of later requests with what an accepted token was answered with: a cookie or an access token. */
export async function credentialOf(answer: Response): Promise<Record<string, string>> {
  if (answer.status === 303)
    return { cookie: (answer.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? '' };
  if (answer.status !== 200) throw new Error(`refused with ${answer.status}: ${await answer.text()}`);
  const { access_token: token } = (await answer.json()) as { access_token: string };
  return { authorization: `Bearer ${token}` };
}

/** The user that an accepted token signs in: the actor if there is one, else the subject. */
export async function signedIn(service: TestService, answer: Response): Promise<Me> {
  const me = await service.fetch('/rest/me', { headers: await credentialOf(answer) });
  if (me.status !== 200) throw new Error(`/rest/me answered ${me.status}: ${await me.text()}`);
  return (await me.json()) as Me;
}
