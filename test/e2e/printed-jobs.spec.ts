// The jobs that docs/partner/ci.md prints, run as the platforms run them: with a good token, and with one for another audience.
import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { StoredEntryService } from '../../src/token-exchange/trust/stored/stored-entry.service.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { describeUnless } from '../support/describe-unless.js';
import { blocksOf } from '../support/init-instance.js';
import { createUser } from '../support/local-users.js';
import { github, GITHUB_SUB, gitlab } from '../support/platforms.js';
import { TestService } from '../support/test-service.js';

interface Outcome {
  readonly exitCode: number;
  readonly output: string;
}

interface GitHubJob {
  readonly env?: Readonly<Record<string, string>>;
  readonly steps?: readonly { readonly run?: string }[];
}

const run = promisify(execFile);
const PRINTED = blocksOf('docs/partner/ci.md', 'yaml').map((text) => parse(text) as unknown);

/** The script of GitHub: each step is a file for `bash -e`. */
function githubScript(): string {
  const job = PRINTED.find((one): one is GitHubJob => Object.hasOwn(one as object, 'steps'));
  return (job?.steps ?? []).map((step) => step.run ?? '').join('\n');
}

/** The script of GitLab: one script of all lines, which stops at the first that fails. */
function gitlabScript(): string {
  const job = PRINTED.find((one): one is { deploy: { script: string[] } } =>
    Object.hasOwn(one as object, 'deploy'),
  );
  return (job?.deploy.script ?? []).join('\n');
}

const missing = ['bash', 'curl', 'jq'].find(
  (program) => spawnSync(program, ['--version']).error !== undefined,
);
const reason = missing && `${missing} is not on this machine`;

describeUnless(reason, 'the jobs that are printed', () =>
  describeOnAnyDatabase('for a platform', (database) => {
    const platforms = { github: github(), gitlab: gitlab() };
    const gitlabSub = 'project_path:acme/group/flows:ref_type:branch:ref:main';
    const service = TestService.forBlock(database);

    beforeAll(async () => {
      const signInAs = await createUser(service, { email: 'deploy@example.com' });
      const entries = service.part(StoredEntryService);
      await entries.add(platforms.github.entry({ name: 'github', subjects: [GITHUB_SUB], signInAs }));
      await entries.add(platforms.gitlab.entry({ name: 'gitlab', subjects: [gitlabSub], signInAs }));
    });

    /** Runs a script in a folder with a workflow, against the service. */
    async function outcomeOf(shell: string[], script: string, environment: object): Promise<Outcome> {
      const cwd = await mkdtemp(join(tmpdir(), 'job-'));
      writeFileSync(
        join(cwd, 'workflow.json'),
        JSON.stringify({ name: 'printed', nodes: [], connections: {} }),
      );
      const [file = 'sh', ...args] = shell;
      const text = script.replaceAll('https://instance.example', service.address);
      const env = { PATH: process.env['PATH'], ...environment };
      return run(file, [...args, '-c', text], { cwd, env }).then(
        ({ stdout, stderr }) => ({ exitCode: 0, output: stdout + stderr }),
        (error: { code: number; stdout: string; stderr: string }) => ({
          exitCode: error.code,
          output: error.stdout + error.stderr,
        }),
      );
    }

    /** Stands in for the endpoint of GitHub from which a job gets its token. */
    async function githubJob(change: object): Promise<Outcome> {
      const server = createServer((_request, response) =>
        response.end(JSON.stringify({ value: platforms.github.token({ ...change }) })),
      ).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const environment = {
        INSTANCE: service.address,
        ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'request',
        ACTIONS_ID_TOKEN_REQUEST_URL: `http://127.0.0.1:${port}/token?a=b`,
      };
      try {
        return await outcomeOf(['bash', '-e'], githubScript(), environment);
      } finally {
        server.close();
      }
    }

    const gitlabJob = (change: object) =>
      outcomeOf(['sh', '-e'], gitlabScript(), { JWT: platforms.gitlab.token({ sub: gitlabSub, ...change }) });

    it.each([
      ['GitHub', githubJob],
      ['GitLab', gitlabJob],
    ])('[P.signInAs] the job of %s makes a workflow', async (_, job) => {
      const { exitCode, output } = await job({});
      expect([exitCode, output]).toEqual([0, expect.stringMatching(/^HTTP\/1\.1 201/m)]);
    });

    it.each([
      ['GitHub', githubJob],
      ['GitLab', gitlabJob],
    ])(
      '[D21] the job of %s stops at a refusal, with the reason and the id by which the log has the cause',
      async (_, job) => {
        const { exitCode, output } = await job({ aud: 'https://other.example' });
        expect([exitCode > 0, output]).toEqual([true, expect.stringContaining('invalid_grant')]);
        const [, requestId] = /^x-request-id: (\S+)/im.exec(output) ?? [];
        const lines = service.log.filter((line) => line['requestId'] === requestId);
        expect(JSON.stringify(lines)).toContain('audience_mismatch');
        expect(output).not.toContain('/api/v1');
        expect(output).not.toContain(' 401');
      },
    );
  }),
);
