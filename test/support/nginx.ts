// Runs nginx from the system's packages in front of instances, with a configuration of the tests' own.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { freePort } from '../../demo/free-port.js';
import { until } from './until.js';

const START_LIMIT_MS = 20_000;
const STOP_LIMIT_MS = 5_000;

/** The path of nginx; undefined where it is not installed. Debian keeps it where only root looks. */
export function nginxPath(): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin'];
  return folders.map((folder) => join(folder, 'nginx')).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** One nginx on a port of its own. */
export class Nginx {
  private constructor(
    readonly origin: string,
    private readonly folder: string,
    private readonly port: number,
    private readonly child: ChildProcess,
  ) {}

  /** @param upstreams `host:port` of each instance, which take turns */
  static async start(path: string, upstreams: readonly string[]): Promise<Nginx> {
    const folder = mkdtempSync(join(tmpdir(), 'svc-test-nginx-'));
    const port = await freePort();
    writeFileSync(join(folder, 'nginx.conf'), configurationOf(folder, port, upstreams));
    const child = spawn(path, ['-p', folder, '-c', join(folder, 'nginx.conf'), '-g', 'daemon off;'], {
      stdio: 'ignore',
    });
    const nginx = new Nginx(`http://127.0.0.1:${port}`, folder, port, child);
    await until('nginx answers', START_LIMIT_MS, () => nginx.isUp());
    return nginx;
  }

  /** Sends requests to these instances from now on; those that are under way end where they are. */
  reload(upstreams: readonly string[]): void {
    writeFileSync(join(this.folder, 'nginx.conf'), configurationOf(this.folder, this.port, upstreams));
    this.child.kill('SIGHUP');
  }

  async stop(): Promise<void> {
    const patience = setTimeout(() => this.child.kill('SIGKILL'), STOP_LIMIT_MS);
    const ended = once(this.child, 'close');
    this.child.kill('SIGTERM');
    await ended;
    clearTimeout(patience);
    rmSync(this.folder, { recursive: true, force: true });
  }

  private isUp(): Promise<boolean> {
    return fetch(`${this.origin}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    );
  }
}

/**
 * As the operators' documentation shows it: connections to the instances are kept, and a request goes to another instance
 * only where it has surely not been sent, which is nginx's default.
 */
function configurationOf(folder: string, port: number, upstreams: readonly string[]): string {
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `  ${kind}_temp_path ${join(folder, kind)};`,
  );
  const servers = upstreams.map((address) => `    server ${address} max_fails=1 fail_timeout=2s;`);
  return `worker_processes 1;
pid ${join(folder, 'nginx.pid')};
error_log ${join(folder, 'error.log')};
events { worker_connections 512; }
http {
  access_log off;
  # A reload ends the connections that clients keep, whatever they are about to send.
  keepalive_timeout 0;
${paths.join('\n')}
  upstream instances {
${servers.join('\n')}
    keepalive 16;
  }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://instances;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_set_header X-Forwarded-Proto $scheme;
    }
  }
}
`;
}
