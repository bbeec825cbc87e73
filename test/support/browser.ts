// Runs blocks of tests in a real Chromium that blocks third-party cookies: one for each worker of a run, a fresh context for each block.
import { accessSync, constants, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { chromium, firefox } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const FLAGS = [
  // Every name of the tests leads to this machine, and each is a separate site.
  '--host-resolver-rules=MAP *.test 127.0.0.1',
  '--ignore-certificate-errors',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const STEP_TIMEOUT_MS = 40_000;

/** The setting "block third-party cookies" of the browser. */
const PREFERENCES = { profile: { block_third_party_cookies: true, cookie_controls_mode: 1 } };

/** A context of its own, as a window without memory of others. */
export interface TestBrowser {
  readonly context: BrowserContext;
  close(): Promise<void>;
}

/**
 * Starts a Chromium at each of the ports and leaves their addresses in TEST_CHROMIUM_URLS. Two workers share none: each would
 * hold up the new frames of the other.
 * @returns what stops them; undefined without Chromium
 */
export async function startChromium(ports: readonly number[]): Promise<(() => Promise<void>) | undefined> {
  if (chromiumPath() === undefined) return undefined;
  const contexts = await Promise.all(ports.map((port) => launch(port)));
  process.env['TEST_CHROMIUM_URLS'] = ports.map((port) => `http://127.0.0.1:${port}`).join(' ');
  return async () => {
    await Promise.all(contexts.map((context) => context.close()));
  };
}

function launch(port: number): Promise<BrowserContext> {
  const profile = mkdtempSync(join(tmpdir(), 'svc-test-browser-'));
  mkdirSync(join(profile, 'Default'));
  writeFileSync(join(profile, 'Default', 'Preferences'), JSON.stringify(PREFERENCES));
  return chromium.launchPersistentContext(profile, {
    executablePath: chromiumPath(),
    headless: true,
    args: [...FLAGS, `--remote-debugging-port=${port}`],
  });
}

/** Opens a fresh context, with an empty page, in the Chromium of this worker. */
export async function openBrowser(): Promise<TestBrowser> {
  const { TEST_CHROMIUM_URLS = '', JEST_WORKER_ID } = process.env;
  const browser = await chromium.connectOverCDP(
    TEST_CHROMIUM_URLS.split(' ')[Number(JEST_WORKER_ID) - 1] ?? '',
  );
  const context = await browser.newContext({
    ignoreHTTPSErrors: true,
    viewport: { width: 900, height: 700 },
  });
  context.setDefaultTimeout(STEP_TIMEOUT_MS);
  await context.newPage();
  const close = async () => {
    await context.close();
    await browser.close();
  };
  return { context, close };
}

/** A Chromium of the test's own, which can sleep. */
export interface StoppableBrowser extends TestBrowser {
  /** Reaches each of its processes. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void;
}

/** @param flags added to the flags that all tests use */
export async function openStoppableBrowser(flags: readonly string[] = []): Promise<StoppableBrowser> {
  const server = await chromium.launchServer({
    executablePath: chromiumPath(),
    headless: true,
    args: [...FLAGS, ...flags],
  });
  const browser = await chromium.connect(server.wsEndpoint());
  const context = await browser.newContext({ viewport: { width: 900, height: 700 } });
  context.setDefaultTimeout(STEP_TIMEOUT_MS);
  // It leads a process group.
  const group = -(server.process().pid ?? Number.NaN);
  return { context, close: () => server.close(), signal: (name) => process.kill(group, name) };
}

/** Opens a Firefox of the test's own, as Debian has it: by WebDriver BiDi. @param names that lead to this machine */
export async function openFirefox(
  names: readonly string[],
  preferences: Record<string, number | boolean | string> = {},
): Promise<StoppableBrowser> {
  const before = childProcesses();
  const browser = await firefox.launch({
    channel: 'moz-firefox',
    executablePath: firefoxPath(),
    firefoxUserPrefs: { 'network.dns.localDomains': names.join(), ...preferences },
  });
  // It leads a process group; the driver names no process.
  const group = -(childProcesses().find((pid) => !before.includes(pid)) ?? Number.NaN);
  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  context.setDefaultTimeout(STEP_TIMEOUT_MS);
  return { context, close: () => browser.close(), signal: (name) => process.kill(group, name) };
}

function childProcesses(): number[] {
  const { pid } = process;
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
}

export function firefoxPath(): string | undefined {
  return executable('FIREFOX_PATH', ['firefox-esr', 'firefox']);
}

/** Declares a block of tests that need a browser; without one a skipped test in its place says why. */
export function describeInBrowser(title: string, block: () => void): void {
  if (chromiumPath() !== undefined) describe(title, block);
  else describe(title, () => it.skip(`skipped: ${MISSING}`, () => undefined));
}

const MISSING =
  'there is no Chromium; set CHROMIUM_PATH, or install it (Debian: apt-get install -y chromium)';

export function chromiumPath(): string | undefined {
  return executable('CHROMIUM_PATH', NAMES);
}

/** The program that the variable names, else the first of these on the path. */
function executable(variable: string, names: readonly string[]): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const candidates = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  return [process.env[variable] ?? '', ...candidates].find((path) => path !== '' && isExecutable(path));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
