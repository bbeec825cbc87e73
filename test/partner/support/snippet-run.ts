// Runs the backend that a partner copies, in a folder of its own, against a real service.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../../demo/free-port.js';
import { Partner } from '../../../demo/partner.js';
import { backendSnippets } from '../../../src/administration/partners/snippets.js';
import { readTemplates } from '../../../src/administration/partners/templates.js';
import { describeOnAnyDatabase } from '../../support/databases.js';
import { TestService } from '../../support/test-service.js';

const PATIENCE_MS = 300_000;

/** How a language calls the three functions of its program. */
export interface SnippetLanguage {
  /** As the snippets have it. */
  readonly id: string;
  /** Additional files. One of them prints JSON: `frame`, the status of `nobody`, and `access`. */
  readonly files: Readonly<Record<string, string>>;
  readonly commands: readonly (readonly [program: string, ...args: string[]])[];
}

interface Printed {
  readonly frame: string;
  readonly nobody: number;
  readonly access: string;
}

export function describeSnippet({ id, files, commands }: SnippetLanguage): void {
  describeOnAnyDatabase(`a partner's backend in ${id}`, (database) => {
    let service: TestService;
    let printed: Printed;

    beforeAll(async () => {
      const port = await freePort();
      const baseUrl = `http://localhost:${port}`;
      const partner = Partner.create({ issuer: 'https://partner.example', audience: baseUrl });
      service = await TestService.start(database, {
        trustedKeys: [partner.staticEntry()],
        environment: { SVC_PORT: String(port), SVC_BASE_URL: baseUrl },
      });
      const folder = mkdtempSync(join(tmpdir(), 'snippet-'));
      const { issuer, kid } = partner;
      const facts = {
        issuer,
        kid,
        audience: baseUrl,
        baseUrl,
        algorithm: 'ES256',
        keyFile: 'partner-key.pem',
      };
      const program = backendSnippets(readTemplates(), facts).find((snippet) => snippet.id === id);
      if (program === undefined) throw new Error(`there is no program in ${id}`);
      const all = { ...files, [program.file]: program.text, 'partner-key.pem': partner.privateKeyPem() };
      for (const [name, text] of Object.entries(all)) writeFileSync(join(folder, name), text);
      let output = '';
      for (const command of commands) output = await run(command, folder);
      printed = JSON.parse(output) as Printed;
    }, PATIENCE_MS);
    afterAll(() => service?.stop());

    it("signs the session's user in, and gives a token to no one else", async () => {
      expect((await service.embed({ token: printed.frame })).status).toBe(303);
      expect(printed.nobody).toBe(401);
    });

    it('exchanges a token for an access token that the API accepts', async () => {
      const headers = { authorization: `Bearer ${printed.access}` };
      const me = await service.fetch('/rest/me', { headers });
      expect([me.status, await me.json()]).toMatchObject([200, { user: { email: 'ada@partner.example' } }]);
    });
  });
}

/** Returns what a command prints. */
async function run([program, ...args]: readonly [string, ...string[]], folder: string): Promise<string> {
  const child = spawn(program, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  const said = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (more: string) => (said.stdout += more));
  child.stderr.setEncoding('utf8').on('data', (more: string) => (said.stderr += more));
  const [exitCode] = (await once(child, 'close')) as [number | null];
  if (exitCode !== 0) throw new Error(`${program} ended with ${exitCode}: ${said.stderr}${said.stdout}`);
  return said.stdout;
}
