// What the documents for partners print: programs and commands, typed as they stand against an instance that `init` has made.
import { execFileSync } from 'node:child_process';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { describeBuilt } from '../support/built-service.js';
import { InitInstance, blocksOf } from '../support/init-instance.js';

const textsOf = (page: string, language: string) => blocksOf(`docs/${page}`, language);

/** What a page prints as JSON, in the shape that it has. */
const shapesOf = (page: string) =>
  textsOf(page, 'json').map((text) => Object.keys(JSON.parse(text) as object).sort());

/** Writes the programs of a page, types its commands one after the other, and returns what they print. */
async function typed(instance: InitInstance, page: string): Promise<string> {
  for (const program of textsOf(page, 'js')) {
    const name = /^\/\/ (\S+\.mjs)\n/.exec(program)?.[1];
    if (name !== undefined) instance.write(name, program);
  }
  const { exitCode, stdout, stderr } = await instance.type(textsOf(page, 'sh').filter(isRun).join('\n'));
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr });
  return stdout;
}

/** A token by the program of the guide. */
function tokenOf({ folder }: InitInstance, customerAndLifetime: string): string {
  const program = `import { tokenFor } from './sign.mjs'; console.log(await tokenFor(${customerAndLifetime}))`;
  const args = ['--input-type=module', '--eval', program];
  return execFileSync(process.execPath, args, { cwd: folder, encoding: 'utf8' }).trim();
}

/** Commands for an instance of somebody else's cannot be. */
const isRun = (text: string) => !text.includes('instance.example');

function accessTokensIn(output: string): string[] {
  return [...output.matchAll(/"access_token":"([^"]+)"/g)].map(([, token = '']) => token);
}

describeBuilt('the documents for partners, typed as they stand,', () => {
  const instance = new InitInstance();
  // As the page on calling the API asks for.
  beforeAll(() => instance.start([], { actFor: ['https://partner.example'] }));
  afterAll(() => instance.end());

  it('lead to a first exchange, a first login, and the cause of a refusal', async () => {
    const output = await typed(instance, 'partners.md');
    expect(textsOf('partners.md', 'sh').filter(isRun)).toHaveLength(4);
    expect(output).toContain('{"data":[],"nextCursor":null}\n');
    expect(output).toContain('"email":"customer-1@partner.example"');
    expect(output).toContain('{"error":"audience_mismatch","message":"Token audience does not match"}');
    const token = tokenOf(instance, "{ id: 'c', email: 'c@partner.example', firstName: 'C' }, '60s'");
    const parts = [decodeProtectedHeader(token), decodeJwt(token)];
    expect(parts.map((part) => Object.keys(part).sort())).toEqual(shapesOf('partners.md'));
  });

  it('exchange tokens with and without an actor, and print the whole answer', async () => {
    const output = await typed(instance, 'calling-the-api.md');
    const [page = ''] = textsOf('calling-the-api.md', 'http');
    const [answer = ''] = /\{"access_token"[^}]*\}/.exec(output) ?? [];
    const keysOf = (text: string) => Object.keys(JSON.parse(text) as object);
    expect(keysOf(answer)).toEqual(keysOf(page.slice(page.indexOf('{'))));
    expect(output).toContain('{"data":[],"nextCursor":null}');
    expect(textsOf('calling-the-api.md', 'sh').every(isRun)).toBe(true);
    expect(output).toMatch(/"role":"project:editor"[^]*"name":"Shop"/);
    const [own = '', delegated = ''] = accessTokensIn(output);
    expect(decodeJwt(delegated)).toMatchObject({
      delegated_rights: 'both',
      act: { sub: expect.any(String) },
    });
    const parts = [decodeProtectedHeader(own), decodeJwt(own)];
    expect(parts.map((part) => Object.keys(part).sort())).toEqual(shapesOf('verifying-access-tokens.md'));
  });

  it('make a key, whose two halves have one thumbprint', async () => {
    const output = await typed(instance, 'partner-keys.md');
    expect(output).toMatch(/^([\w-]{43})\n\1\n$/);
  });
});
