// The main job of the service as eight steps of a transcript: what a partner does, and what is refused.
import type { Person } from './cast.js';
import { ALICE, claimsAbout, OWNER, SERVICE_ACCOUNT, WORKFLOW_NAMES } from './cast.js';
import type { DemoInstance } from './demo-instance.js';
import {
  accessClaims,
  actorOf,
  genericRefusal,
  hasNames,
  isPage,
  issued,
  met,
  SESSION_COOKIE,
  sessionOpened,
  status,
} from './expectations.js';
import type { HttpAnswer, HttpRequest } from './http-exchange.js';
import { cookieFrom } from './http-exchange.js';
import type { Step, Transcript } from './transcript.js';

const EXCHANGE_GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange';
const JWT_TYPE = 'urn:ietf:params:oauth:token-type:jwt';

export class MainJob {
  constructor(
    private readonly instance: DemoInstance,
    private readonly transcript: Transcript,
  ) {}

  async run(): Promise<void> {
    const subjectToken = this.tokenFor(ALICE);
    await this.exchangeAlone(subjectToken);
    await this.exchangeWithActor();
    await this.replayExchange(subjectToken);
    const embedToken = this.tokenFor(ALICE);
    await this.logIn(embedToken);
    await this.replayLogin(embedToken);
    await this.claimOwner();
  }

  private async exchangeAlone(subjectToken: string): Promise<void> {
    const answer = await this.take({
      title: 'Exchange without an actor',
      shows: 'A JWT that the partner signed about Alice becomes an access token with Alice’s permissions.',
      request: exchange({ subject_token: subjectToken, scope: 'workflow:read' }),
      expect: (got) => [
        ...issued(got),
        met('the token is about Alice', accessClaims(got).sub === this.instance.userIdOf(ALICE)),
        met('nobody acts for her', accessClaims(got).act === undefined),
        met('it is for reading workflows', got.json.scope === 'workflow:read'),
      ],
    });
    await this.listWorkflows(answer, ALICE, 'The access token reads the instance API: Alice’s workflows.');
  }

  private async exchangeWithActor(): Promise<void> {
    const tokens = { subject_token: this.tokenFor(ALICE), actor_token: this.tokenFor(SERVICE_ACCOUNT) };
    const answer = await this.take({
      title: 'Exchange with an actor',
      shows: 'The partner’s service account acts for Alice: the access token names both.',
      request: exchange({ ...tokens, actor_token_type: JWT_TYPE }),
      expect: (got) => [
        ...issued(got),
        met('the token is about Alice', accessClaims(got).sub === this.instance.userIdOf(ALICE)),
        met('act names the service account', actorOf(got) === this.instance.userIdOf(SERVICE_ACCOUNT)),
      ],
    });
    const shows = 'Calls are authorized as the actor: the service account’s workflows, none of Alice’s.';
    await this.listWorkflows(answer, SERVICE_ACCOUNT, shows);
    await this.askWhoIsIn(bearer(answer), SERVICE_ACCOUNT, 'The instance says as whom the token acts.');
  }

  private async replayExchange(subjectToken: string): Promise<void> {
    await this.take({
      title: 'The first subject token again',
      shows: 'A jti is accepted once: the same JWT buys nothing a second time, and no cause is given away.',
      request: exchange({ subject_token: subjectToken }),
      expect: (got) => [status(got, 400), genericRefusal(got)],
    });
  }

  private async logIn(embedToken: string): Promise<void> {
    const answer = await this.take({
      title: 'Embedded login',
      shows: 'A form post from the partner’s page, as the iframe receives it: session cookie and redirect.',
      request: { method: 'POST', path: '/rest/auth/embed', form: { token: embedToken, redirectTo: '/' } },
      expect: (got) => [status(got, 303), ...sessionOpened(got)],
    });
    const headers = { cookie: cookieFrom(answer, SESSION_COOKIE) };
    await this.askWhoIsIn(headers, ALICE, 'The cookie signs Alice in.');
    await this.take({
      title: 'The page in the frame',
      shows: 'What the iframe shows with that cookie.',
      request: { method: 'GET', path: '/', headers },
      expect: (got) => [status(got, 200), isPage(got)],
    });
  }

  private async replayLogin(embedToken: string): Promise<void> {
    await this.take({
      title: 'The embedded login again',
      shows: 'The same JWT opens no second session; here the answer says why.',
      request: { method: 'POST', path: '/rest/auth/embed', form: { token: embedToken } },
      expect: (got) => [
        status(got, 401),
        met('the code is token_replayed', got.json.error === 'token_replayed'),
        met('the message is the contract’s', got.json.message === 'Token has already been used'),
        met('no cookie is set', got.headers.getSetCookie().length === 0),
      ],
    });
  }

  private async claimOwner(): Promise<void> {
    const { partner } = this.instance;
    const token = partner.sign(
      partner.claims({ ...claimsAbout(ALICE), sub: 'stranger', email: OWNER.email }),
    );
    await this.take({
      title: 'A token with the owner’s e-mail',
      shows: 'The partner’s entry vouches for addresses of its own customers only: nobody becomes the owner.',
      request: { method: 'POST', path: '/rest/auth/embed', form: { token } },
      expect: (got) => [
        status(got, 401),
        met('the policy refuses it', got.json.error === 'email_domain_not_allowed'),
        met('no cookie is set', got.headers.getSetCookie().length === 0),
      ],
    });
  }

  private async listWorkflows(issuance: HttpAnswer, owner: Person, shows: string): Promise<void> {
    const names = WORKFLOW_NAMES.get(owner) ?? [];
    await this.take({
      title: 'The instance API with that token',
      shows,
      request: { method: 'GET', path: '/api/v1/workflows', headers: bearer(issuance) },
      expect: (got) => [status(got, 200), hasNames(got, names, `exactly ${owner.givenName}’s workflows`)],
    });
  }

  private async askWhoIsIn(headers: Record<string, string>, person: Person, shows: string): Promise<void> {
    await this.take({
      title: 'Who is signed in',
      shows,
      request: { method: 'GET', path: '/rest/me', headers },
      expect: (got) => [
        status(got, 200),
        met(
          `it is ${person.givenName} ${person.familyName}`,
          got.text.includes(this.instance.userIdOf(person)),
        ),
      ],
    });
  }

  private tokenFor(person: Person): string {
    const { partner } = this.instance;
    return partner.sign(partner.claims(claimsAbout(person)));
  }

  private async take(step: Step): Promise<HttpAnswer> {
    return this.transcript.take(this.instance.baseUrl, step);
  }
}

function exchange(fields: Record<string, string>): HttpRequest {
  const form = { grant_type: EXCHANGE_GRANT, subject_token_type: JWT_TYPE, ...fields };
  return { method: 'POST', path: '/rest/auth/oauth/token', form };
}

function bearer(issuance: HttpAnswer): Record<string, string> {
  return { authorization: `Bearer ${String(issuance.json.access_token)}` };
}
