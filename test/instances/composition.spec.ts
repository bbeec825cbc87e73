// deploy/compose without containers: each container's command, in order, and the README's commands unchanged.
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { freePort } from '../../demo/free-port.js';
import { ServiceProcess } from '../../demo/service-process.js';
import type { TestDatabase } from '../support/databases.js';
import { describeUnless } from '../support/describe-unless.js';
import { CADDY, ReverseProxy } from '../support/reverse-proxies.js';
import { describeWithProcesses } from '../support/service-cluster.js';
import { REPOSITORY, repositoryFile } from '../support/source-files.js';
import { RunningProgram, systemProgram } from '../support/system-program.js';
import { pause } from '../support/until.js';
import { NameServer } from './support/name-server.js';

/** As with `--scale instance=3`: on Linux each address of 127.0.0.0/8 is this machine's. */
const HOSTS = ['127.0.0.1', '127.0.0.2', '127.0.0.3'];
/** More than `refresh` of the Caddyfile. */
const FORGOTTEN_MS = 1_500;
const FOLDER = 'deploy/compose';

interface Typed {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface Container {
  readonly command: readonly string[];
  readonly entrypoint?: readonly string[];
  readonly environment?: Record<string, string>;
}

const { services } = parse(repositoryFile(`${FOLDER}/compose.yaml`).text, { merge: true }) as {
  services: Record<'password' | 'init' | 'instance' | 'partner' | 'proxy', Container>;
};
const [start = '', trial = ''] = [
  ...repositoryFile(`${FOLDER}/README.md`).text.matchAll(/```sh\n([\s\S]*?)```/g),
].map(([, text = '']) => text);

/** Interpolates like Compose without variables: uses defaults, and replaces `$$` by `$`. */
const interpolated = (text: string) =>
  text.replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1').replaceAll('$$', () => '$');

/** @throws Error if a replaced string does not occur exactly once */
function withReplaced(text: string, places: Record<string, string>): string {
  return Object.entries(places).reduce((all, [place, other]) => {
    if (all.split(place).length !== 2) throw new Error(`not once in the text: ${place}`);
    return all.replace(place, () => other);
  }, text);
}

/** Folders in the place of volumes, and programs in the place of the image's and of Docker. */
class Composition {
  private readonly folder = mkdtempSync(join(tmpdir(), 'svc-compose-'));
  readonly password = join(this.folder, 'password');
  readonly data = join(this.folder, 'data');
  readonly partner = join(this.folder, 'partner');
  readonly role = `compose_${randomBytes(6).toString('hex')}`;
  readonly superuser = `${this.role}_super`;
  instances: ServiceProcess[] = [];
  private readonly proxyData = join(this.folder, 'proxy');
  private proxy?: RunningProgram;
  private port = 0;
  private securePort = 0;

  constructor(private readonly database: TestDatabase) {
    const folders = [this.password, this.data, this.partner, this.proxyData, join(this.folder, 'bin')];
    for (const path of folders) mkdirSync(path);
    const command = join(this.folder, 'bin', 'svc-admin');
    writeFileSync(command, `#!/bin/sh\nexec node '${join(REPOSITORY, 'dist/src/cli/svc-admin.js')}' "$@"\n`);
    chmodSync(command, 0o755);
  }

  makePassword() {
    const [program = '', ...args] = services.password.command.map(interpolated);
    return spawnSync(program, args, { cwd: this.password, encoding: 'utf8' });
  }

  /** As the image of PostgreSQL runs it at its first start, but that the superuser, the role and the database have names of their own. */
  makeDatabase() {
    const script = withReplaced(repositoryFile(`${FOLDER}/database.sql`).text, {
      'ROLE svc': `ROLE ${this.role}`,
      'DATABASE svc OWNER svc': `DATABASE ${this.role} OWNER ${this.role}`,
      'ROLE postgres': `ROLE ${this.superuser}`,
    });
    const url = this.database.environment['SVC_DATABASE_URL'] ?? '';
    const POSTGRES_PASSWORD = readFileSync(join(this.password, 'password'), 'utf8').trim();
    return spawnSync('psql', ['--no-psqlrc', '--set=ON_ERROR_STOP=1', '--quiet', `--dbname=${url}`], {
      input: script,
      env: { ...process.env, POSTGRES_PASSWORD },
      encoding: 'utf8',
    });
  }

  init() {
    const { command, environment } = services.init;
    const { host } = new URL(this.database.environment['SVC_DATABASE_URL'] ?? '');
    const script = withReplaced(interpolated(command.at(-1) ?? ''), {
      '/run/password': this.password,
      '//svc:': `//${this.role}:`,
      'database:5432/svc': `${host}/${this.role}`,
      ' /partner': ` ${this.partner}`,
    });
    const [program = '', ...args] = [...command.slice(0, -1), script];
    return spawnSync(program, args, {
      cwd: this.data,
      env: this.environmentOf(environment),
      encoding: 'utf8',
    });
  }

  /** Starts three instances at the same time, with the settings of `.env` in their folder. */
  async startInstances(): Promise<void> {
    this.port = await freePort();
    const starts = HOSTS.map((host) => {
      const own = { SVC_HOST: host, SVC_PORT: String(this.port) };
      const environment = { ...this.environmentOf(services.instance.environment), ...own };
      const surroundings = { packageRoot: REPOSITORY, directory: this.data, environment };
      return ServiceProcess.start(surroundings, `http://${host}:${this.port}`);
    });
    this.instances = await Promise.all(starts);
  }

  checkHealth() {
    const program = join(REPOSITORY, 'deploy', 'container', 'health-check.mjs');
    const env = { ...process.env, SVC_PORT: String(this.port) };
    return spawnSync(process.execPath, [program], { env, encoding: 'utf8' });
  }

  /** On ports of its own. */
  async startProxy(nameServer: string): Promise<void> {
    const plainPort = await freePort();
    this.securePort = await freePort();
    const file = join(this.folder, 'Caddyfile');
    const own = [
      'skip_install_trust',
      'admin off',
      `http_port ${plainPort}`,
      `https_port ${this.securePort}`,
    ];
    const text = withReplaced(repositoryFile(`${FOLDER}/Caddyfile`).text, {
      'port 5678': `port ${this.port}`,
      'refresh 1s': `refresh 1s\n\t\t\tresolvers udp/${nameServer}`,
      skip_install_trust: own.join('\n\t'),
    });
    writeFileSync(file, text);
    const env = { ...this.environmentOf(services.proxy.environment), XDG_DATA_HOME: this.proxyData };
    const args = ['run', '--adapter', 'caddyfile', '--config', file];
    const home = join(this.folder, 'caddy');
    this.proxy = new RunningProgram(home, systemProgram('caddy') ?? '', { args, env });
    const health = 'curl --silent --insecure --fail https://localhost/healthz';
    await this.proxy.becomes(
      'Caddy leads to an instance',
      async () => (await this.typed(health)).status === 0,
    );
  }

  /**
   * As at a shell, but that the containers are folders, and HTTPS is at another port.
   * Not at once: the name server is of this process.
   */
  async typed(text: string): Promise<Typed> {
    const prelude = `set -eu -o pipefail
      docker() {
        case "$*" in
          'compose run --rm -T partner '*) shift 5; (cd '${this.partner}'; ${services.partner.entrypoint?.join(' ')} "$@") ;;
          'compose cp proxy:/data/'*) cp '${this.proxyData}'"\${3#proxy:/data}" "$4" ;;
          *) echo "not known: docker $*" >&2; return 9 ;;
        esac
      }
      curl() { command curl --connect-to localhost:443:127.0.0.1:${this.securePort} "$@"; }`;
    const env = this.environmentOf({});
    const shell = spawn('bash', ['-c', `${prelude}\n${text}`], { cwd: this.folder, env });
    const said = { stdout: '', stderr: '' };
    shell.stdout.setEncoding('utf8').on('data', (more: string) => (said.stdout += more));
    shell.stderr.setEncoding('utf8').on('data', (more: string) => (said.stderr += more));
    const [status] = (await once(shell, 'close')) as [number | null];
    return { status, ...said };
  }

  async stop(): Promise<void> {
    await this.proxy?.stop();
    await Promise.all(this.instances.map((instance) => instance.stop()));
    const { dataSource } = await this.database.open();
    await dataSource.query(`DROP DATABASE IF EXISTS ${this.role} WITH (FORCE)`);
    await dataSource.query(`DROP ROLE IF EXISTS ${this.role}, ${this.superuser}`);
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** With what the image sets. */
  private environmentOf(own: Record<string, string> = {}): Record<string, string> {
    const given = Object.entries(own).map(([name, value]) => [name, interpolated(value)]);
    return {
      PATH: `${join(this.folder, 'bin')}:${process.env['PATH']}`,
      HOME: this.folder,
      SVC_DATA_DIR: this.data,
      // A machine that is busy with other tests is not a database that is away.
      SVC_DATABASE_WAIT_MS: '10000',
      ...Object.fromEntries(given),
    };
  }
}

describeUnless(ReverseProxy.obstacle(CADDY), 'the composition', () =>
  describeWithProcesses('of containers', declareComposition),
);

function declareComposition(database: TestDatabase): void {
  let composition: Composition;
  let nameServer: NameServer;

  beforeAll(async () => {
    composition = new Composition(database);
    nameServer = await NameServer.listen(HOSTS);
  });
  afterAll(async () => {
    await composition.stop();
    nameServer.close();
  });

  const textOf = (path: string) => readFileSync(join(composition.data, path), 'utf8');
  const filesOfData = () => readdirSync(composition.data, { recursive: true }).sort();

  it('creates one password for the database', async () => {
    const path = join(composition.password, 'password');
    expect(composition.makePassword().status).toBe(0);
    const password = readFileSync(path, 'utf8').trim();
    expect(password).toMatch(/^[0-9a-f]{48}$/);
    expect(composition.makePassword().status).toBe(0);
    expect(readFileSync(path, 'utf8').trim()).toBe(password);
  });

  it('creates an ordinary role for the service, and gives the superuser no password', async () => {
    const { dataSource } = await database.open();
    const { role, superuser } = composition;
    await dataSource.query(`CREATE ROLE ${superuser} SUPERUSER LOGIN PASSWORD 'as the image sets it'`);
    expect(composition.makeDatabase()).toMatchObject({ status: 0, stdout: '', stderr: '' });
    const rights = `SELECT rolname AS name, rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls AS more,
      rolpassword IS NOT NULL AS password FROM pg_authid WHERE rolname = ANY($1) ORDER BY rolname`;
    expect(await dataSource.query(rights, [[role, superuser]])).toEqual([
      { name: role, more: false, password: true },
      { name: superuser, more: true, password: false },
    ]);
  });

  it('sets an instance up once, and resumes an interrupted setup with the same encryption key', () => {
    expect(composition.init()).toMatchObject({ status: 0, stderr: '' });
    const first = [textOf('.env'), textOf('instance/encryption.key')];
    expect(first[0]).toContain('SVC_BASE_URL=https://localhost\n');
    expect(statSync(join(composition.data, '.env')).mode & 0o077).toBe(0);
    expect(composition.init()).toMatchObject({ status: 0, stdout: '', stderr: '' });
    expect([textOf('.env'), textOf('instance/encryption.key')]).toEqual(first);

    rmSync(join(composition.data, '.env'));
    expect(composition.init()).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('owner@example.com'),
    });
    expect(textOf('instance/encryption.key')).toBe(first[1]);
  });

  it("gives the partner's key to the partner, even after an interrupted setup", () => {
    const keys = () => readdirSync(composition.partner).sort();
    const own = ['jwks.json', 'private.pem', 'public.pem'];
    expect(keys()).toEqual(own);
    expect(statSync(join(composition.partner, 'private.pem')).mode & 0o077).toBe(0);
    expect(existsSync(join(composition.data, 'partner'))).toBe(false);
    renameSync(composition.partner, join(composition.data, 'partner'));
    mkdirSync(composition.partner);
    expect(composition.init()).toMatchObject({ status: 0, stdout: '', stderr: '' });
    expect([keys(), existsSync(join(composition.data, 'partner'))]).toEqual([own, false]);
  });

  it('starts three instances at once, which are healthy and write only their settings', async () => {
    const before = filesOfData();
    await composition.startInstances();
    expect(composition.checkHealth()).toMatchObject({ status: 0, stderr: '' });
    expect(filesOfData()).toEqual([...before, 'service.log'].sort());
  });

  it('exchanges a token by HTTPS, as the README says', async () => {
    expect(start).toBe('docker compose up --build --detach --scale instance=3\n');
    await composition.startProxy(nameServer.address);
    const { status, stdout, stderr } = await composition.typed(trial);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({ token_type: 'Bearer', scope: 'workflow:read workflow:write' });
  });

  it.each([0, 1])('continues without instance %d once the name server has forgotten it', async (index) => {
    expect(await composition.instances[index]?.stop()).toBe(0);
    nameServer.forget(HOSTS[index] ?? '');
    await pause(FORGOTTEN_MS);
    for (let times = 0; times < 3; times += 1)
      expect((await composition.typed(trial)).stdout).toContain('access_token');
  });
}
