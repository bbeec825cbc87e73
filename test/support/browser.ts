// Runs blocks of tests in a real Chromium that blocks third-party cookies: one for the whole run, a fresh context for each block.
import { accessSync, constants, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { chromium } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const FLAGS = [
  // Every name of the tests leads to this machine, each a site of its own.
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
/** Starting a browser, and everything in it, takes its time where many tests share a machine. */
const TEST_TIMEOUT_MS = 120_000;
const STEP_TIMEOUT_MS = 40_000;

/** As a visitor sets it in the browser's own settings: "block third-party cookies". */
const PREFERENCES = { profile: { block_third_party_cookies: true, cookie_controls_mode: 1 } };

/** A context of its own, as a window without memory of others. */
export interface TestBrowser {
  readonly context: BrowserContext;
  close(): Promise<void>;
}

/** Starts the Chromium of a run and leaves its address in TEST_CHROMIUM_URL. @returns what stops it; undefined without Chromium */
export async function startChromium(port: number): Promise<(() => Promise<void>) | undefined> {
  if (chromiumPath() === undefined) return undefined;
  const profile = mkdtempSync(join(tmpdir(), 'svc-test-browser-'));
  mkdirSync(join(profile, 'Default'));
  writeFileSync(join(profile, 'Default', 'Preferences'), JSON.stringify(PREFERENCES));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: chromiumPath(),
    headless: true,
    args: [...FLAGS, `--remote-debugging-port=${port}`],
  });
  process.env['TEST_CHROMIUM_URL'] = `http://127.0.0.1:${port}`;
  return () => context.close();
}

/** Opens a fresh context, with an empty page, in the run's Chromium. */
export async function openBrowser(): Promise<TestBrowser> {
  const browser = await chromium.connectOverCDP(process.env['TEST_CHROMIUM_URL'] ?? '');
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

/** Declares a block of tests, with time enough, that need a browser; without one a skipped test in its place says why. */
export function describeInBrowser(title: string, block: () => void): void {
  jest.setTimeout(TEST_TIMEOUT_MS);
  if (chromiumPath() !== undefined) describe(title, block);
  else describe(title, () => it.skip(`skipped: ${MISSING}`, () => undefined));
}

const MISSING =
  'there is no Chromium; set CHROMIUM_PATH, or install it (Debian: apt-get install -y chromium)';

function chromiumPath(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const candidates = NAMES.flatMap((name) => folders.map((folder) => join(folder, name)));
  return [process.env['CHROMIUM_PATH'] ?? '', ...candidates].find(
    (path) => path !== '' && isExecutable(path),
  );
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
