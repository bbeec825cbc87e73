// Operators of the instance: users with a password, and what their browser sends to the operator's API.
import { randomUUID } from 'node:crypto';
import { hashOfCode, newSignInCode, PasswordHasher } from '../../src/administration/accounts/passwords.js';
import { Administration } from '../../src/administration/administration.js';
import type { ShownEntry } from '../../src/administration/entries/entries.operations.js';
import { UserChangeOperations } from '../../src/administration/users/users.operations.js';
import type { GlobalRole } from '../../src/users/role.js';
import { createUser } from './local-users.js';
import { cookieOf } from './logins.js';
import type { TestService } from './test-service.js';
import { BASE_URL } from './test-service.js';

export const PASSWORD = 'correct horse battery staple';
/** The variables that enable the operator's page. Clients set their own address by `X-Forwarded-For`. */
export const OPERATOR_ENVIRONMENT = { SVC_ADMIN_ENABLED: 'true', SVC_PROXY_HOPS: '1' };

/** Has an operation performed as a command has. */
export function setPassword(service: TestService, user: string, passwordHash: string) {
  const request = { id: randomUUID(), way: 'service' } as const;
  const operations = service.part(UserChangeOperations);
  return service.part(Administration).perform(operations, 'setPassword', { user, passwordHash }, request);
}

/** Makes a code as `svc-admin users set-password --code` does. */
export async function makeCode(service: TestService, user: string): Promise<string> {
  const code = newSignInCode();
  const request = { id: randomUUID(), way: 'service' } as const;
  const codeHash = hashOfCode(code).toString('hex');
  const operations = service.part(UserChangeOperations);
  await service.part(Administration).perform(operations, 'setPassword', { user, codeHash }, request);
  return code;
}

/** Makes a user with the password of all tests. */
export async function createOperator(
  service: TestService,
  email: string,
  role: GlobalRole = 'global:admin',
): Promise<string> {
  const id = await createUser(service, { email, role });
  await setPassword(service, id, await new PasswordHasher().hash(PASSWORD));
  return id;
}

/** Sends requests like a browser at the operator's page. */
export class OperatorBrowser {
  cookie = '';

  constructor(
    private readonly service: TestService,
    /** Its network address. */
    private readonly address = '192.0.2.1',
  ) {}

  /** @param body undefined: none */
  send(
    method: string,
    path: string,
    body?: object,
    headers: Record<string, string | undefined> = {},
  ): Promise<Response> {
    const usual = {
      origin: method === 'GET' ? undefined : BASE_URL,
      cookie: this.cookie === '' ? undefined : this.cookie,
      'content-type': body === undefined ? undefined : 'application/json',
      'x-forwarded-for': this.address,
    };
    const present = Object.entries({ ...usual, ...headers }).filter(([, value]) => value !== undefined);
    return this.service.fetch(`/rest/admin/${path}`, {
      method,
      headers: Object.fromEntries(present) as Record<string, string>,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  }

  /** Tries to sign in, and keeps the cookie that it gets. */
  async signIn(email: string, password = PASSWORD): Promise<Response> {
    return this.keeping(await this.send('POST', 'session', { email, password }));
  }

  keeping(answer: Response): Response {
    if (answer.headers.has('set-cookie')) this.cookie = cookieOf(answer);
    return answer;
  }

  get(path: string): Promise<Response> {
    return this.send('GET', path);
  }

  /** Puts a stored entry as an edit makes it of the one that is shown. */
  async putEntry(
    name: string,
    edit: (entry: Readonly<Record<string, unknown>>) => object,
  ): Promise<Response> {
    const { definition, revision } = (await (await this.get(`entries/${name}`)).json()) as ShownEntry;
    return this.send('PUT', `entries/${name}`, edit(definition), { 'if-match': `"${revision}"` });
  }

  /** The status of its own session. */
  async status(): Promise<number> {
    return (await this.get('session')).status;
  }
}

/** Somebody who has signed in. */
export async function signedIn(
  service: TestService,
  email: string,
  address?: string,
): Promise<OperatorBrowser> {
  const browser = new OperatorBrowser(service, address);
  const answer = await browser.signIn(email);
  if (answer.status !== 201) throw new Error(`the sign-in answered ${answer.status}: ${await answer.text()}`);
  return browser;
}

export async function errorOf(answer: Response): Promise<[number, string]> {
  return [answer.status, ((await answer.json()) as { error: string }).error];
}
