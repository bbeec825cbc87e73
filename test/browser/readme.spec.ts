// Runs the README's section "Run it" unchanged in an empty folder: from the package file to the first API call.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { freePort } from '../../demo/free-port.js';
import { chromiumPath, openBrowser } from '../support/browser.js';
import { describeBuilt } from '../support/built-service.js';
import { releaseFile, tarballName } from '../support/release-files.js';
import { REPOSITORY, repositoryFile } from '../support/source-files.js';

// npm and Node.js start a dozen times, on a busy machine.
jest.setTimeout(600_000);

/** An account that owns nothing. */
const NOBODY = 65_534;
const RELEASED = releaseFile();
const INSTALL = `npm install --ignore-scripts ./${tarballName()}\n`;
const PROGRAMS = { 'embedded-token-exchange': 'start.js', 'svc-admin': 'cli/svc-admin.js' };

const section = /\n## Run it\n([\s\S]*?)\n## /.exec(repositoryFile('README.md').text)?.[1] ?? '';
const blocks = [...section.matchAll(/```sh\n([\s\S]*?)```/g)].map((match) => match[1] ?? '');

interface Ended {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A folder with only the reader's release file. For unreleased code, the package is installed already. */
function folderFor(account: number): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-readme-'));
  const place = join(folder, 'instance');
  for (const name of ['instance', 'home']) mkdirSync(join(folder, name));
  if (RELEASED === undefined) unpackInto(place);
  else copyFileSync(RELEASED, join(place, tarballName()));
  if (account !== process.getuid?.()) giveTo(account, folder);
  return folder;
}

/** What the package asks for is linked, since installing it needs a registry. */
function unpackInto(place: string): void {
  const home = join(place, 'node_modules', 'embedded-token-exchange');
  const commands = join(place, 'node_modules', '.bin');
  for (const path of [home, commands]) mkdirSync(path, { recursive: true });
  const args = ['pack', REPOSITORY, '--ignore-scripts', '--offline', '--pack-destination', place];
  execFileSync('npm', args, { stdio: 'ignore' });
  execFileSync('tar', ['-xzf', join(place, tarballName()), '--strip-components=1', '-C', home]);
  symlinkSync(join(REPOSITORY, 'node_modules'), join(home, 'node_modules'));
  for (const [name, program] of Object.entries(PROGRAMS)) {
    chmodSync(join(home, 'dist', 'src', program), 0o755);
    symlinkSync(join(home, 'dist', 'src', program), join(commands, name));
  }
}

function giveTo(account: number, path: string): void {
  if (lstatSync(path).isSymbolicLink()) return;
  chownSync(path, account, account);
  if (!lstatSync(path).isDirectory()) return;
  for (const name of readdirSync(path)) giveTo(account, join(path, name));
}

/** The ports of the README may be taken: others stand in their place. */
interface Ports {
  readonly instance: number;
  readonly partner: number;
}

/**
 * Runs the text unchanged, one command after the other. Commands that still run at the end are ended with the shell.
 * @param visit looks at what the commands have started
 */
async function typed(
  text: string,
  folder: string,
  account: number,
  ports: Ports,
  visit: () => Promise<void>,
): Promise<Ended> {
  const shell = spawn('bash', ['-eu', '-o', 'pipefail', '-c', `${text}\nread -r`], {
    cwd: join(folder, 'instance'),
    env: {
      PATH: process.env['PATH'],
      HOME: join(folder, 'home'),
      PORT: String(ports.instance),
      INSTANCE_URL: `http://localhost:${ports.instance}`,
      PARTNER_ORIGIN: `http://localhost:${ports.partner}`,
      ...(RELEASED === undefined && { npm_config_offline: 'true' }),
    },
    detached: true,
    stdio: 'pipe',
    ...(account === process.getuid?.() ? {} : { uid: account, gid: account }),
  });
  const said = { stdout: '', stderr: '' };
  const isWalked = new Promise<void>((resolve) => {
    shell.stdout.setEncoding('utf8').on('data', (more: string) => {
      said.stdout += more;
      if (said.stdout.includes('"nextCursor":null}')) resolve();
    });
  });
  shell.stderr.setEncoding('utf8').on('data', (more: string) => (said.stderr += more));
  const exit = once(shell, 'exit') as Promise<[number | null]>;
  const close = once(shell, 'close');
  try {
    await Promise.race([isWalked.then(visit), exit]);
    shell.stdin.end('\n');
    const [exitCode] = await exit;
    return { exitCode, ...said };
  } finally {
    endGroup(shell.pid ?? 0, 'SIGTERM');
    await Promise.race([close, new Promise((resolve) => setTimeout(resolve, 20_000))]);
    endGroup(shell.pid ?? 0, 'SIGKILL');
  }
}

/** Visits the partner's page, if Chromium is installed. */
async function visitPartner(port: number): Promise<void> {
  if (chromiumPath() === undefined) return;
  const browser = await openBrowser();
  try {
    const page = await browser.context.newPage();
    await page.goto(`http://localhost:${port}`);
    await page.getByText('Signed in').waitFor();
    await page.frameLocator('iframe').getByRole('heading', { level: 1 }).waitFor();
  } finally {
    await browser.close();
  }
}

function endGroup(processId: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-processId, signal);
  } catch {
    // All of it has ended.
  }
}

/** Whether any account may go down to a path. */
function isOpenToAll(path: string): boolean {
  const isOpen = (statSync(path).mode & 0o001) !== 0;
  return isOpen && (dirname(path) === path || isOpenToAll(dirname(path)));
}

function accounts(): [name: string, account: number][] {
  const own = process.getuid?.() ?? 0;
  const mayChange = own === 0 && isOpenToAll(join(REPOSITORY, 'node_modules'));
  return [
    [own === 0 ? 'root' : 'this account', own],
    ...(mayChange ? [['another account', NOBODY] as [string, number]] : []),
  ];
}

describe('the README', () => {
  it('leads by commands alone from the setup to an API call', () => {
    expect(blocks).toHaveLength(3);
    expect(blocks[0]).toMatch(new RegExp(`^${INSTALL}`));
    expect(blocks[1]).toMatch(/\/api\/v1\/workflows -H "Authorization: Bearer \$ACCESS_TOKEN"\n$/);
    expect(blocks[2]).toMatch(/^node \S+\/examples\/quickstart\/partner\.mjs /);
  });
});

describeBuilt('"Run it" in the README', () => {
  const folders: string[] = [];
  afterAll(() => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });

  it.each(accounts())("ends with the API's answer if typed exactly: as %s", async (_, account) => {
    const folder = folderFor(account);
    folders.push(folder);
    const ports = { instance: await freePort(), partner: await freePort() };
    const [setUp = '', call = '', embed = ''] = blocks.map((block) =>
      block
        .replace(RELEASED === undefined ? INSTALL : '', '')
        .replaceAll('5678', String(ports.instance))
        .replaceAll('localhost:3000', `localhost:${ports.partner}`)
        .replace('init --yes', `init --yes --partner-origin http://localhost:${ports.partner}`),
    );
    // The page is started before the call, because the call's answer is the end of the output.
    const text = [setUp, embed, call].join('\n');
    const visit = () => visitPartner(ports.partner);
    const { exitCode, stdout, stderr } = await typed(text, folder, account, ports, visit);
    const log = readFileSync(join(folder, 'instance', 'service.log'), 'utf8');
    expect({ exitCode, stderr, log }).toEqual({ exitCode: 0, stderr, log });
    expect(stdout).toContain('may assign global:member');
    expect(stdout).toContain('{"status":"ready"');
    expect(stdout.trimEnd()).toMatch(/\{"data":\[\],"nextCursor":null\}$/);
  });
});
