// The CI job that docs/partner/troubleshooting.md prints: run as GitHub runs it, at its own pace, against an instance with the usual limits.
import { spawnSync } from 'node:child_process';
import { parse } from 'yaml';
import { Partner } from '../../demo/partner.js';
import { CHECKS } from '../../packages/partner/src/check.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { describeUnless } from '../support/describe-unless.js';
import { blocksOf } from '../support/init-instance.js';
import { TestService } from '../support/test-service.js';
import { CheckFolder } from './support/check-run.js';
import { RewritingProxy } from './support/rewriting-proxy.js';

const PAGE = 'docs/partner/troubleshooting.md';
const PRINTED_ADDRESS = 'https://staging.instance.example';
const PATIENCE_MS = 600_000;
const DEFAULT_LIMIT = '20';
const TOO_MANY_REQUESTS = 429;

interface Job {
  readonly env: Readonly<Record<string, string>>;
  readonly steps: readonly { readonly run?: string }[];
}

/** The installation needs a registry: the folder already has the client as npm installs it. */
function printedScript(): string {
  const [text = ''] = blocksOf(PAGE, 'yaml');
  const [job] = Object.values(parse(text) as Record<string, Job>);
  const scripts = (job?.steps ?? []).map(({ run = '' }) => run);
  expect(job?.env['INSTANCE']).toBe(PRINTED_ADDRESS);
  expect(scripts).toContain('npm ci');
  return scripts.filter((script) => script !== 'npm ci').join('\n');
}

jest.setTimeout(PATIENCE_MS);

const missing = ['bash', 'npx'].find((program) => spawnSync(program, ['--version']).error !== undefined);

describeUnless(missing && `${missing} is not on this machine`, 'the printed job', () =>
  describeOnAnyDatabase('after an upgrade of staging', (database) => {
    const statuses: number[] = [];
    let proxy: RewritingProxy;
    let folder: CheckFolder;
    let partner: Partner;
    let service: TestService;

    beforeAll(async () => {
      proxy = await RewritingProxy.listen();
      partner = Partner.create({
        issuer: 'https://partner.example',
        kid: 'partner-1',
        audience: proxy.origin,
      });
      folder = new CheckFolder(partner);
      service = await TestService.start(database, {
        trustedKeys: [partner.staticEntry()],
        environment: {
          SVC_BASE_URL: proxy.origin,
          SVC_TOKEN_EXCHANGE_EMBED_LOGIN_PER_MINUTE: DEFAULT_LIMIT,
          SVC_TOKEN_EXCHANGE_TOKEN_EXCHANGE_PER_MINUTE: DEFAULT_LIMIT,
        },
      });
      proxy.leadTo([service.address], { answer: ({ status }) => void statuses.push(status) });
    }, PATIENCE_MS);
    afterAll(async () => {
      await service?.stop();
      await proxy?.close();
      folder?.remove();
    });

    const runJob = (instance: string) =>
      folder.script(
        printedScript(),
        {
          INSTANCE: instance,
          PARTNER_KEY: partner.privateKeyPem(),
          RUNNER_TEMP: folder.path,
          npm_config_offline: 'true',
          npm_config_update_notifier: 'false',
        },
        proxy.certificate,
      );

    it('[8.5][8.6] succeeds without reaching the default limits', async () => {
      const { exitCode, stdout, stderr } = await runJob(proxy.origin);
      expect([exitCode, stderr, stdout]).toEqual([
        0,
        '',
        expect.stringContaining(`${CHECKS.length} checks: ${CHECKS.length} passed`),
      ]);
      expect(statuses).toContain(200);
      expect(statuses).not.toContain(TOO_MANY_REQUESTS);
      expect(stdout).not.toMatch(/eyJ|PRIVATE/);
    });
  }),
);
