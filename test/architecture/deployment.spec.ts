// Holds what operators are given in deploy/ against the service: variables, ports, probes, secrets, and the promises of a stop.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { ENVIRONMENT_VARIABLES } from '../../src/config/environment.js';
import { defaultOf } from '../../src/config/variable.js';
import { PROBES } from '../../src/platform/http/server.js';
import { repositoryFile, repositoryFiles } from '../support/source-files.js';

const KUBERNETES = 'deploy/kubernetes';
const COMPOSE = 'deploy/compose';
const UNIT = 'embedded-token-exchange.service';
/** What D93 gives to requests in flight once the delay is over. */
const STOP_SECONDS = 5;

interface Variable {
  readonly name: string;
  readonly value: string;
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

interface Container extends Record<`${'startup' | 'liveness' | 'readiness'}Probe`, Probe> {
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly env: readonly Variable[];
  readonly volumeMounts: readonly { readonly mountPath: string }[];
  readonly securityContext: object;
}

interface Deployment {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly terminationGracePeriodSeconds: number;
        readonly securityContext: object;
        readonly containers: readonly [Container];
      };
    };
  };
}

interface Service {
  readonly environment: Record<string, string>;
  readonly stop_grace_period: string;
  readonly read_only: boolean;
}

const document = <T>(path: string): T => parse(repositoryFile(path).text, { merge: true }) as T;
const settings = (path: string) =>
  Object.fromEntries(
    repositoryFile(path)
      .text.match(/^\w+=.*$/gm)
      ?.map((line) => line.split('=')) ?? [],
  ) as Record<string, string>;

describe('the deployment files', () => {
  const files = repositoryFiles().filter(({ path }) => /^(deploy\/(?!observability)|Dockerfile)/.test(path));

  it('contain no unknown variable', () => {
    const known = new Set(ENVIRONMENT_VARIABLES.flatMap(({ name }) => [name, `${name}_FILE`]));
    const named = files.flatMap(({ path, text }) =>
      (text.match(/\bSVC_[A-Z_]+\b/g) ?? []).map((name) => ({ path, name })),
    );
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter(({ name }) => !known.has(name))).toEqual([]);
  });
});

describe('the image', () => {
  it('starts the service with the options of `npm start`, which Node.js accepts', () => {
    const [, command = '[]'] = /^CMD (\[.*\])$/m.exec(repositoryFile('Dockerfile').text) ?? [];
    const [program, ...options] = JSON.parse(command) as string[];
    expect([program, options.pop()]).toEqual(['node', '/app/dist/src/main.js']);
    expect(options).toHaveLength(1);
    expect(repositoryFile('scripts/run.mjs').text).toContain(`start: ['${options[0]}']`);
    expect(execFileSync(process.execPath, [...options, '-p', '1']).toString()).toBe('1\n');
  });
});

describe('the Kubernetes manifests', () => {
  const { terminationGracePeriodSeconds, containers } = document<Deployment>(`${KUBERNETES}/deployment.yaml`)
    .spec.template.spec;
  const [container] = containers;
  const instance = settings(`${KUBERNETES}/instance.env`);
  const portOf = (name: string) => container.ports.find((port) => port.name === name)?.containerPort;

  it("use existing probes on the service's ports", () => {
    const service = ENVIRONMENT_VARIABLES.find(({ name }) => name === 'SVC_PORT');
    expect(String(portOf('http'))).toBe(service && defaultOf(service));
    const metrics = ENVIRONMENT_VARIABLES.find(({ name }) => name === 'SVC_METRICS_PORT');
    expect(String(portOf('metrics'))).toBe(metrics && defaultOf(metrics));
    const asked = [container.startupProbe, container.livenessProbe, container.readinessProbe];
    expect(asked.map(({ httpGet }) => httpGet.port)).toEqual(['http', 'http', 'http']);
    expect(asked.filter(({ httpGet }) => !PROBES.has(httpGet.path))).toEqual([]);
  });

  it('[D93] give a stop enough time', () => {
    const delay = Number(instance['SVC_SHUTDOWN_DELAY_SECONDS']);
    expect(delay).toBeGreaterThan(0);
    expect(terminationGracePeriodSeconds).toBeGreaterThanOrEqual(delay + 2 * STOP_SECONDS);
  });

  it('contain no secrets, only paths of mounted ones', () => {
    const secret = new Set(ENVIRONMENT_VARIABLES.filter(({ isSecret }) => isSecret).map(({ name }) => name));
    const given = [...Object.keys(instance), ...container.env.map(({ name }) => name)];
    expect(given.filter((name) => secret.has(name))).toEqual([]);
    const mount = `${container.volumeMounts[0]?.mountPath}/`;
    expect(container.env.filter(({ value }) => !value.startsWith(mount))).toEqual([]);
  });
});

describe('the composition', () => {
  const { services } = document<{ services: { instance: Service } }>(`${COMPOSE}/compose.yaml`);
  const { environment, stop_grace_period: patience, read_only: isReadOnly } = services.instance;

  it('[D93] gives a stop enough time', () => {
    const delay = Number(environment['SVC_SHUTDOWN_DELAY_SECONDS']);
    expect(Number.parseInt(patience)).toBeGreaterThanOrEqual(delay + 2 * STOP_SECONDS);
    expect(isReadOnly).toBe(true);
  });

  it("has the Caddy configuration that the proxy tests use, with Docker's instance names", () => {
    const own = linesOf(`${COMPOSE}/Caddyfile`);
    const upstreams = 'reverse_proxy 10.0.0.5:5678 10.0.0.6:5678 {';
    const shipped = linesOf('deploy/reverse-proxies/Caddyfile').filter(
      // Instances that a name server tells of are not asked for their readiness.
      (line) => line !== 'instance.example {' && line !== upstreams && !line.startsWith('health_'),
    );
    expect(shipped.filter((line) => !own.includes(line))).toEqual([]);
  });
});

describe('the systemd unit', () => {
  const { text } = repositoryFile(`deploy/systemd/${UNIT}`);
  const valueOf = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(text)?.[1];

  it('[D93] gives a stop without a delay enough time', () => {
    expect(Number(valueOf('TimeoutStopSec'))).toBeGreaterThanOrEqual(2 * STOP_SECONDS);
  });

  if (spawnSync('systemd-analyze', ['--version']).error !== undefined)
    it.skip('skipped: systemd-analyze is not installed (Debian: apt-get install systemd)', () => undefined);
  else {
    const folder = mkdtempSync(join(tmpdir(), 'unit-'));
    const path = join(folder, UNIT);
    afterAll(() => rmSync(folder, { recursive: true }));
    const written = (unit: string) => {
      // Node.js may be elsewhere on the machine of this test.
      writeFileSync(path, unit.replace('ExecStart=/usr/bin/node', `ExecStart=${process.execPath}`));
      const options = { encoding: 'utf8' } as const;
      const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', path], options);
      return { status, printed: stdout + stderr };
    };

    it('passes systemd-analyze', () => {
      expect(written(text)).toEqual({ status: 0, printed: '' });
    });
  }
});

/** Without comments. */
function linesOf(path: string): string[] {
  const lines = repositoryFile(path).text.split('\n');
  return lines.map((line) => line.trim()).filter((line) => !line.startsWith('#'));
}
