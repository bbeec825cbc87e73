// A tab of WebKitGTK, which Debian's WebKitWebDriver drives by the WebDriver protocol on a virtual screen.
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { freePort } from '../../demo/free-port.js';
import type { Tab } from '../browser/support/journey.js';
import { until } from './until.js';

const DRIVER = '/usr/bin/WebKitWebDriver';
const SCREEN = '/usr/bin/xvfb-run';
const START_MS = 60_000;

export function hasWebKit(): boolean {
  return existsSync(DRIVER) && existsSync(SCREEN);
}

export class WebKitTab implements Tab {
  private constructor(
    private readonly driver: ChildProcess,
    private readonly session: string,
  ) {}

  static async open(): Promise<WebKitTab> {
    const port = await freePort();
    const driver = spawn(SCREEN, ['-a', DRIVER, `--port=${port}`], { detached: true, stdio: 'ignore' });
    const address = `http://127.0.0.1:${port}`;
    await until('the driver answers', START_MS, () =>
      fetch(`${address}/status`).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
    const capabilities = { alwaysMatch: { acceptInsecureCerts: true } };
    const { sessionId } = await call<{ sessionId: string }>('POST', `${address}/session`, { capabilities });
    return new WebKitTab(driver, `${address}/session/${sessionId}`);
  }

  async goto(url: string): Promise<void> {
    await this.top();
    await call('POST', `${this.session}/url`, { url });
  }

  async reload(): Promise<void> {
    await this.top();
    await call('POST', `${this.session}/refresh`, {});
  }

  async run<Result>(expression: string): Promise<Result> {
    await this.top();
    return this.execute(expression);
  }

  async inside<Result>(expression: string, frame = 0): Promise<Result> {
    await this.top();
    await call('POST', `${this.session}/frame`, { id: frame });
    return this.execute(expression);
  }

  async close(): Promise<void> {
    await call('DELETE', this.session);
    // It leads a process group.
    process.kill(-(this.driver.pid ?? Number.NaN), 'SIGTERM');
    await once(this.driver, 'exit');
  }

  private top(): Promise<unknown> {
    return call('POST', `${this.session}/frame`, { id: null });
  }

  private execute<Result>(expression: string): Promise<Result> {
    return call('POST', `${this.session}/execute/async`, {
      script: `const done = arguments[0]; Promise.resolve(${expression}).then(done, (error) => done(String(error)));`,
      args: [],
    });
  }
}

async function call<Value>(method: string, url: string, body?: object): Promise<Value> {
  const answer = await fetch(url, { method, ...(body && { body: JSON.stringify(body) }) });
  const { value } = (await answer.json()) as { value: Value & { error?: string; message?: string } };
  if (!answer.ok) throw new Error(`${value.error}: ${value.message}`);
  return value;
}
