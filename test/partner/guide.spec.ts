// What the documents for partners print: programs and commands, typed as they stand against an instance that `init` has made.
import { execFileSync, spawnSync } from 'node:child_process';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { describeBuilt } from '../support/built-service.js';
import { blocksOf, InitInstance } from '../support/init-instance.js';

const textsOf = (page: string, language: string) => blocksOf(`docs/partner/${page}`, language);
/** What the quickstart leaves to its reader: the user of a session. */
const SESSIONS = {
  'sessions.mjs': `export const signedInUser = ({ headers }) =>
    headers.cookie === 'session=1' ? { id: 'ada-1', email: 'ada@partner.example' } : undefined;`,
  'sessions.py': `from flask import request
def signed_in_user():
    signed_in = request.cookies.get("session") == "1"
    return {"id": "ada-2", "email": "ada2@partner.example"} if signed_in else None`,
};
/** Both ask the printed route without a session, then with one, and print status and body. */
const ASK_NODE = `
import { createServer } from 'node:http';
import { automationToken } from './automation-token.mjs';
const server = createServer(automationToken).listen(0, async () => {
  for (const headers of [{}, { cookie: 'session=1' }]) {
    const answer = await fetch('http://localhost:' + server.address().port, { method: 'POST', headers });
    console.log(answer.status, await answer.text());
  }
  server.close();
});`;
const ASK_PYTHON = `
from automation_token import app
for headers in ({}, {"Cookie": "session=1"}):
    answer = app.test_client(use_cookies=False).post("/automation-token", headers=headers)
    print(answer.status_code, answer.get_data(as_text=True) if answer.status_code == 200 else "")`;
const PYTHON = ['python3', '/usr/bin/python3'].find(
  (python) => spawnSync(python, ['-c', 'import jwt, flask, cryptography']).status === 0,
);

/** What a page prints as JSON, in the shape that it has. */
const shapesOf = (page: string) =>
  textsOf(page, 'json').map((text) => Object.keys(JSON.parse(text) as object).sort());

function writePrograms(instance: InitInstance, page: string): void {
  for (const program of [...textsOf(page, 'js'), ...textsOf(page, 'python')]) {
    const name = /^(?:\/\/|#) (\S+\.(?:mjs|py))(?:: .*)?\n/.exec(program)?.[1];
    if (name !== undefined) instance.write(name, program);
  }
}

/** Writes the programs of a page, types its commands one after the other, and returns what they print. */
async function typed(instance: InitInstance, page: string): Promise<string> {
  writePrograms(instance, page);
  const { exitCode, stdout, stderr } = await instance.type(textsOf(page, 'sh').filter(isRun).join('\n'));
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr });
  return stdout;
}

/** A token by the program of the guide. */
function tokenOf({ folder }: InitInstance, customerAndLifetime: string): string {
  const program = `import { sign } from './automation.mjs'; console.log(await sign(${customerAndLifetime}))`;
  const args = ['--input-type=module', '--eval', program];
  return execFileSync(process.execPath, args, { cwd: folder, encoding: 'utf8' }).trim();
}

/** Runs the program of the page on verification with a token. */
function verified({ folder }: InitInstance, token: string) {
  const program = `import { verify } from './verify.mjs'; console.log(JSON.stringify(await verify('${token}')))`;
  const args = ['--input-type=module', '--eval', program];
  return spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
}

/** Commands for an instance of somebody else's cannot be. */
const isRun = (text: string) => !text.includes('instance.example');

function accessTokensIn(output: string): string[] {
  return [...output.matchAll(/"access_token":"([^"]+)"/g)].map(([, token = '']) => token);
}

describeBuilt('the partner documents, typed exactly,', () => {
  const instance = new InitInstance();
  // As the page on calling the API asks for.
  beforeAll(() => instance.start([], { actFor: ['https://partner.example'] }));
  afterAll(() => instance.end());

  it('lead to a first exchange, with a token that has the claims on the tokens page', async () => {
    const output = await typed(instance, 'quickstart.md');
    expect(output).toBe('{"data":[],"nextCursor":null}\n');
    const token = tokenOf(instance, "{ id: 'c', email: 'c@partner.example' }, '60s'");
    const parts = [decodeProtectedHeader(token), decodeJwt(token)];
    expect(parts.map((part) => Object.keys(part).sort())).toEqual(shapesOf('tokens.md'));
  });

  it("have routes that sign in the session's user, and no one without a session: Node.js", () =>
    signsInOnlyUsers('node ask.mjs'));

  const isPython = PYTHON === undefined ? it.skip : it;
  isPython(
    PYTHON === undefined
      ? 'skipped: no Python 3 with PyJWT, cryptography and Flask (Debian: python3-jwt python3-cryptography python3-flask)'
      : 'have routes that sign in the user of a session, and nobody without one: Python',
    () => signsInOnlyUsers(`${PYTHON} ask.py`),
  );

  async function signsInOnlyUsers(asking: string): Promise<void> {
    writePrograms(instance, 'quickstart.md');
    const files = { ...SESSIONS, 'ask.mjs': ASK_NODE, 'ask.py': ASK_PYTHON };
    for (const [name, text] of Object.entries(files)) instance.write(name, text);
    const { stdout, stderr } = await instance.type(asking);
    expect({ stdout, stderr }).toEqual({ stdout: expect.stringMatching(/^401 \n200 eyJ\S+\n$/), stderr });
    const token = stdout.trim().split(' ').at(-1) ?? '';
    const login = await fetch(`${instance.baseUrl}/rest/auth/embed`, {
      method: 'POST',
      body: new URLSearchParams({ token }),
      redirect: 'manual',
    });
    expect(login.status).toBe(303);
  }

  it('explain why a token is refused, and compare clocks', async () => {
    const output = await typed(instance, 'troubleshooting.md');
    expect(textsOf('troubleshooting.md', 'sh').filter(isRun)).toHaveLength(2);
    expect(output).toContain('{"error":"audience_mismatch","message":"Token audience does not match"}');
  });

  it('exchange tokens with and without an actor, print the whole answer, and verify the access token', async () => {
    const output = await typed(instance, 'api.md');
    const [page = ''] = textsOf('api.md', 'http');
    const [answer = ''] = /\{"access_token"[^}]*\}/.exec(output) ?? [];
    const keysOf = (text: string) => Object.keys(JSON.parse(text) as object);
    expect(keysOf(answer)).toEqual(keysOf(page.slice(page.indexOf('{'))));
    expect(output).toContain('{"data":[],"nextCursor":null}');
    expect(textsOf('api.md', 'sh').every(isRun)).toBe(true);
    expect(output).toMatch(/"role":"project:editor"[^]*"name":"Shop"/);
    const [own = '', delegated = ''] = accessTokensIn(output);
    expect(decodeJwt(delegated)).toMatchObject({
      delegated_rights: 'both',
      act: { sub: expect.any(String) },
    });
    const parts = [decodeProtectedHeader(own), decodeJwt(own)];
    expect(parts.map((part) => Object.keys(part).sort())).toEqual(shapesOf('verify.md'));
    writePrograms(instance, 'verify.md');
    expect(JSON.parse(verified(instance, own).stdout)).toEqual(decodeJwt(own));
    const external = tokenOf(instance, "{ id: 'c', email: 'c@partner.example' }, '60s'");
    expect(verified(instance, external)).toMatchObject({
      stdout: '',
      stderr: expect.stringContaining('JWKSNoMatchingKey'),
    });
    expect(verified(instance, delegated)).toMatchObject({
      stdout: '',
      stderr: expect.stringContaining('delegated'),
    });
  });

  it('create a key pair whose two parts have the same thumbprint', async () => {
    const output = await typed(instance, 'keys.md');
    expect(output).toMatch(/^([\w-]{43})\n\1\n$/);
  });
});
