// Runs blocks of tests in a real Chromium that blocks third-party cookies, over HTTPS and on sites of our own.
import { accessSync, constants, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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

/** A browser with a profile of its own. */
export interface TestBrowser {
  readonly context: BrowserContext;
  close(): Promise<void>;
}

/** Opens Chromium with a fresh profile that blocks third-party cookies. */
export async function openBrowser(): Promise<TestBrowser> {
  const profile = mkdtempSync(join(tmpdir(), 'svc-test-browser-'));
  mkdirSync(join(profile, 'Default'));
  writeFileSync(join(profile, 'Default', 'Preferences'), JSON.stringify(PREFERENCES));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: chromiumPath(),
    headless: true,
    args: FLAGS,
    ignoreHTTPSErrors: true,
    viewport: { width: 900, height: 700 },
  });
  context.setDefaultTimeout(STEP_TIMEOUT_MS);
  const close = async () => {
    await context.close();
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
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
