// Readers of the API's description: linters, a fuzzer, and generators whose clients must work. Unavailable tools are skipped.
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApiWorld } from '../../support/api-world.js';
import { describeOnAnyDatabase } from '../../support/databases.js';
import type { TestService } from '../../support/test-service.js';
import { describePrepared, outputOf, prepared } from './support/foreign-programs.js';
import { startReachable } from './support/reachable-service.js';

const PATIENCE_MS = 1_860_000;
const NODE_TOOLS = [
  '@redocly/cli@2.77.0',
  '@stoplight/spectral-cli@6.16.3',
  'openapi-typescript@7.13.0',
  'openapi-fetch@0.17.0',
  'typescript@5.9.3',
  '@types/node@20.19.43',
];

/** OpenAPI 3.1 allows scopes for any scheme, not only OAuth 2.0 ("Security Requirement Object"). The rule knows only 3.0. */
const SPECTRAL_RULES = 'extends: ["spectral:oas"]\nrules: { oas3-operation-security-defined: off }\n';

describeOnAnyDatabase('the API description', (database) => {
  let service: TestService;
  let baseUrl: string;
  let world: ApiWorld;

  beforeAll(async () => {
    ({ service, baseUrl } = await startReachable(database));
    world = new ApiWorld(service, 'description');
  });
  afterAll(() => service?.stop());

  /** Of a new user each time: what has gone before may have changed every other. */
  const tokenAs = async (role: 'global:admin' | 'global:owner') => world.token(await world.createUser(role));

  /** Saves the description. Another address is used if a linter rejects the tests' address. */
  const save = async (folder: string, address = baseUrl) => {
    const text = await (await service.fetch('/api/v1/openapi.json')).text();
    writeFileSync(join(folder, 'openapi.json'), text.replaceAll(baseUrl, address));
  };

  const python = prepared('description', [
    ['python3', '-m', 'venv', 'venv'],
    ['venv/bin/pip', 'install', '--quiet', '--requirement', 'requirements.txt'],
  ]);
  describePrepared('with Python tools', python, (folder) => {
    it.each(['global:admin', 'global:owner'] as const)(
      'passes schemathesis as %s',
      async (role) => {
        await save(folder);
        const bearer = await tokenAs(role);
        const options = ['--url', baseUrl, '--header', `Authorization: Bearer ${bearer}`, '--no-color'];
        const rounds = ['--max-examples', '50', '--continue-on-failure'];
        const config = ['--config-file', 'schemathesis.toml'];
        const printed = await outputOf(
          ['venv/bin/schemathesis', ...config, 'run', 'openapi.json', ...options, ...rounds],
          folder,
        );
        expect(printed).toMatch(/[1-9]\d{2,} generated, [1-9]\d{2,} passed/);
        expect(service.log.filter(({ level }) => level === 'error')).toEqual([]);
      },
      PATIENCE_MS,
    );

    it(
      'generates a working client with openapi-python-client',
      async () => {
        await save(folder);
        const made = ['generate', '--path', 'openapi.json', '--output-path', 'made', '--overwrite'];
        const printed = await outputOf(['venv/bin/openapi-python-client', ...made], folder);
        expect(printed).not.toMatch(/unable to parse/i);
        copyFileSync(join(folder, 'client.py'), join(folder, 'made', 'client.py'));
        await outputOf(['venv/bin/python', 'made/client.py', baseUrl, await tokenAs('global:admin')], folder);
      },
      PATIENCE_MS,
    );
  });

  const node = prepared('description', [['npm', 'install', '--silent', '--prefix', '.', ...NODE_TOOLS]]);
  describePrepared('with Node.js tools', node, (folder) => {
    const tool = (name: string) => join('node_modules', '.bin', name);

    it(
      'passes Redocly',
      async () => {
        // It rejects `localhost` and IP addresses, which the tests use.
        await save(folder, 'https://automation.fernwick.io');
        const printed = await outputOf([tool('redocly'), 'lint', '--format', 'json', 'openapi.json'], folder);
        expect(JSON.parse(printed)).toMatchObject({ problems: [], totals: { errors: 0, warnings: 0 } });
      },
      PATIENCE_MS,
    );

    it(
      'passes Spectral',
      async () => {
        await save(folder);
        writeFileSync(join(folder, '.spectral.yaml'), SPECTRAL_RULES);
        const options = ['--ruleset', '.spectral.yaml', '--fail-severity', 'hint'];
        const printed = await outputOf([tool('spectral'), 'lint', ...options, 'openapi.json'], folder);
        expect(printed).toContain('No results');
      },
      PATIENCE_MS,
    );

    it(
      'generates types for a working client with openapi-typescript',
      async () => {
        await save(folder);
        await outputOf([tool('openapi-typescript'), 'openapi.json', '--output', 'paths.d.ts'], folder);
        copyFileSync(join(folder, 'client.mts.txt'), join(folder, 'client.mts'));
        const strict = ['--strict', '--target', 'es2022', '--module', 'nodenext', '--types', 'node'];
        await outputOf([tool('tsc'), ...strict, 'client.mts'], folder);
        await outputOf([process.execPath, 'client.mjs', baseUrl, await tokenAs('global:admin')], folder);
      },
      PATIENCE_MS,
    );
  });
});
