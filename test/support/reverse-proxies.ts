// Runs the reverse proxies of the system's packages in front of instances, with the configurations that operators are given.
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../demo/free-port.js';
import type { Identity } from './jwks-server.js';
import { makeSelfSignedCertificate } from './self-signed-certificate.js';
import { REPOSITORY } from './source-files.js';
import { RunningProgram, systemProgram } from './system-program.js';

const CONFIGURATIONS = join(REPOSITORY, 'deploy', 'reverse-proxies');
const HOSTNAME = 'instance.example';

/** One kind of proxy: its command, and the parts of the shipped configuration that depend on the deployment. */
export interface ProxyKind {
  readonly name: string;
  /** Debian's package of it. */
  readonly package: string;
  /** Whether it asks instances for their readiness by itself; else it is told which to use. */
  readonly asksForReadiness: boolean;
  /** Whether its shipped configuration has a log of requests. */
  readonly logsRequests: boolean;
  readonly arguments: (folder: string, file: string) => string[];
  readonly configuration: (place: Place) => string;
}

interface Place {
  readonly folder: string;
  readonly plainPort: number;
  readonly securePort: number;
  readonly upstreams: readonly string[];
}

export const NGINX: ProxyKind = {
  name: 'nginx',
  package: 'nginx-light',
  asksForReadiness: false,
  logsRequests: true,
  // Debian's nginx opens its log below /var before it reads the configuration, which only root may.
  arguments: (folder, file) => ['-e', join(folder, 'log'), '-p', folder, '-c', file, '-g', 'daemon off;'],
  configuration: ({ folder, plainPort, securePort, upstreams }) => {
    const shipped = changed(readFileSync(join(CONFIGURATIONS, 'nginx.conf'), 'utf8'), [
      [/listen 80;/, `listen 127.0.0.1:${plainPort};`],
      [/listen 443/, `listen 127.0.0.1:${securePort}`],
      [/\/etc\/ssl\/instance.example.pem/, join(folder, 'cert.pem')],
      [/\/etc\/ssl\/private\/instance.example.key/, join(folder, 'key.pem')],
      [/\/var\/log\/nginx\/instance.log/, join(folder, 'log')],
      [
        /( +)server 10.0.0.5:5678( .*;)\n.*10.0.0.6:5678.*/,
        servers(upstreams, (address) => `$1server ${address}$2`),
      ],
    ]);
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
    return `pid ${join(folder, 'pid')};
error_log ${join(folder, 'log')};
events { worker_connections 512; }
http {
  # A reload ends the connections that clients keep, whatever they are about to send.
  keepalive_timeout 0;
  access_log off;
${temporary.map((kind) => `  ${kind}_temp_path ${join(folder, kind)};\n`).join('')}
${shipped}
}
`;
  },
};

export const HAPROXY: ProxyKind = {
  name: 'HAProxy',
  package: 'haproxy',
  asksForReadiness: true,
  logsRequests: true,
  arguments: (_folder, file) => ['-db', '-f', file],
  configuration: ({ folder, plainPort, securePort, upstreams }) =>
    changed(readFileSync(join(CONFIGURATIONS, 'haproxy.cfg'), 'utf8'), [
      [/bind :80\n/, `bind 127.0.0.1:${plainPort}\n`],
      [/bind :443/, `bind 127.0.0.1:${securePort}`],
      [/\/etc\/haproxy\/instance.example.pem/, join(folder, 'both.pem')],
      [
        /( +)server one .*\n.*server two .*/,
        servers(upstreams, (address, index) => `$1server s${index} ${address}`),
      ],
    ]),
};

export const CADDY: ProxyKind = {
  name: 'Caddy',
  package: 'caddy',
  asksForReadiness: true,
  logsRequests: false,
  arguments: (_folder, file) => ['run', '--adapter', 'caddyfile', '--config', file],
  configuration: ({ folder, plainPort, securePort, upstreams }) => {
    const shipped = changed(readFileSync(join(CONFIGURATIONS, 'Caddyfile'), 'utf8'), [
      [
        /instance.example \{\n/,
        `instance.example {\n\ttls ${join(folder, 'cert.pem')} ${join(folder, 'key.pem')}\n`,
      ],
      [/10.0.0.5:5678 10.0.0.6:5678/, upstreams.join(' ')],
    ]);
    const ports = `http_port ${plainPort}\n\thttps_port ${securePort}`;
    return `{\n\tadmin off\n\tstorage file_system ${folder}\n\t${ports}\n}\n${shipped}`;
  },
};

function servers(upstreams: readonly string[], line: (address: string, index: number) => string): string {
  return upstreams.map(line).join('\n');
}

/** @throws Error if the shipped text does not contain a pattern exactly once */
function changed(shipped: string, places: [RegExp, string][]): string {
  return places.reduce((text, [place, value]) => {
    const found = text.match(new RegExp(place, 'g'))?.length ?? 0;
    if (found !== 1) throw new Error(`${place} is ${found} times in the configuration`);
    return text.replace(place, value);
  }, shipped);
}

/** An answer to a client. It replaces the one of fetch, which accepts no certificate of a test. */
export interface ProxyAnswer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly text: string;
}

/** A proxy with its own ports and its own certificate. */
export class ReverseProxy {
  private constructor(
    private readonly kind: ProxyKind,
    private readonly place: Place,
    private readonly identity: Identity,
    private readonly program: RunningProgram,
  ) {}

  /** The reason why this kind of proxy cannot start here; undefined if it can. */
  static obstacle(kind: ProxyKind): string | undefined {
    return systemProgram(kind.name.toLowerCase()) === undefined
      ? `${kind.name} is not installed (Debian: apt-get install -y ${kind.package})`
      : undefined;
  }

  /** @param upstreams `host:port` of each instance; they must answer */
  static async start(
    kind: ProxyKind,
    upstreams: readonly string[],
    securePort?: number,
  ): Promise<ReverseProxy> {
    const folder = mkdtempSync(join(tmpdir(), 'svc-test-proxy-'));
    const plainPort = await freePort();
    const place = { folder, upstreams, plainPort, securePort: securePort ?? (await freePort()) };
    const identity = makeSelfSignedCertificate(HOSTNAME);
    writeFileSync(join(folder, 'cert.pem'), identity.cert);
    writeFileSync(join(folder, 'key.pem'), identity.key);
    writeFileSync(join(folder, 'both.pem'), identity.cert + identity.key);
    const file = join(folder, 'configuration');
    writeFileSync(file, kind.configuration(place));
    const path = systemProgram(kind.name.toLowerCase()) ?? '';
    const program = new RunningProgram(folder, path, { args: kind.arguments(folder, file) });
    const proxy = new ReverseProxy(kind, place, identity, program);
    await program.becomes(`${kind.name} answers`, () => proxy.isUp());
    return proxy;
  }

  /** The address for plain HTTP. */
  get plainOrigin(): string {
    return `http://127.0.0.1:${this.place.plainPort}`;
  }

  /** Sends a request by HTTPS on a new connection. */
  fetch(
    path: string,
    { method = 'GET', headers = {}, body }: { method?: string; headers?: object; body?: string } = {},
  ): Promise<ProxyAnswer> {
    const options = {
      host: '127.0.0.1',
      port: this.place.securePort,
      servername: HOSTNAME,
      ca: this.identity.cert,
      agent: false,
      path,
      method,
      headers: { host: HOSTNAME, ...headers },
    };
    return new Promise((resolve, reject) => {
      const sent = request(options, (answer) => {
        const parts: string[] = [];
        answer.setEncoding('utf8').on('data', (part: string) => parts.push(part));
        answer.on('error', reject);
        answer.on('end', () =>
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text: parts.join('') }),
        );
      });
      sent.on('error', reject).end(body);
    });
  }

  /** Sends new requests to these instances. Requests in progress finish on their old instance. */
  reload(upstreams: readonly string[]): void {
    const configuration = this.kind.configuration({ ...this.place, upstreams });
    writeFileSync(join(this.place.folder, 'configuration'), configuration);
    this.program.reload();
  }

  /** Its log of requests. */
  log(): string {
    const file = join(this.place.folder, 'log');
    return this.program.log + (existsSync(file) ? readFileSync(file, 'utf8') : '');
  }

  stop(): Promise<void> {
    return this.program.stop();
  }

  private isUp(): Promise<boolean> {
    return this.fetch('/healthz').then(
      ({ status }) => status === 200,
      () => false,
    );
  }
}
