// The last release and this one on one database: beside each other, one after the other, and back again.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Partner } from '../../demo/partner.js';
import type { ServiceSurroundings } from '../../demo/service-process.js';
import { ServiceProcess } from '../../demo/service-process.js';
import { describeOnEmptyDatabase } from '../package/support/empty-database.js';
import { describeBuilt, surroundingsOf } from '../support/built-service.js';
import { REPOSITORY } from '../support/source-files.js';
import { sizeOf } from '../support/series.js';
import { GRANT_TYPE } from '../support/test-service.js';

const isWhole = sizeOf({ small: 0, whole: 1 }) === 1;
const LIMIT_MS = 900_000;
const SOME = 20;

jest.setTimeout(LIMIT_MS);

/** The commit that wrote the heading of the last release into the changelog; undefined where there is no history. */
function lastRelease(): { version: string; commit: string } | undefined {
  try {
    const git = (...args: string[]) => execFileSync('git', args, { cwd: REPOSITORY, encoding: 'utf8' });
    const [, version] = /^## \[(\d+\.\d+\.\d+)\]/m.exec(git('show', 'HEAD:CHANGELOG.md')) ?? [];
    const commits = git('log', '--reverse', '--format=%H', `-S## [${version}]`, '--', 'CHANGELOG.md');
    const [commit] = commits.split('\n');
    return version && commit ? { version, commit } : undefined;
  } catch {
    return undefined;
  }
}

/** Its sources, built with the packages that are installed here. @returns its folder */
function build(commit: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'last-release-'));
  const archive = execFileSync('git', ['archive', commit], { cwd: REPOSITORY, maxBuffer: 2 ** 28 });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  symlinkSync(join(REPOSITORY, 'node_modules'), join(folder, 'node_modules'));
  execFileSync('npm', ['run', 'build'], { cwd: folder, stdio: 'pipe' });
  return folder;
}

/** A process of one of the releases, at an address of its own. */
class Instance {
  private process: ServiceProcess | undefined;

  constructor(
    private readonly surroundings: ServiceSurroundings,
    private readonly baseUrl: string,
  ) {}

  async start(): Promise<void> {
    this.process = await ServiceProcess.start(this.surroundings, this.baseUrl);
  }

  async stop(): Promise<void> {
    await this.process?.stop();
  }

  async exchange(token: string): Promise<{ status: number; accessToken?: string }> {
    const body = new URLSearchParams({ grant_type: GRANT_TYPE, subject_token: token });
    const answer = await fetch(`${this.baseUrl}/rest/auth/oauth/token`, { method: 'POST', body });
    const { access_token: accessToken } = (await answer.json()) as { access_token?: string };
    return { status: answer.status, accessToken };
  }

  async login(token: string): Promise<{ status: number; cookie: string }> {
    const body = new URLSearchParams({ token });
    const url = `${this.baseUrl}/rest/auth/embed`;
    const answer = await fetch(url, { method: 'POST', body, redirect: 'manual' });
    return { status: answer.status, cookie: answer.headers.get('set-cookie')?.split(';')[0] ?? '' };
  }

  /** Who the credential is taken for. */
  async me(headers: Record<string, string>): Promise<number> {
    return (await fetch(`${this.baseUrl}/rest/me`, { headers })).status;
  }

  remove(): void {
    rmSync(this.surroundings.directory, { recursive: true, force: true });
  }
}

const release = isWhole ? lastRelease() : undefined;
if (!isWhole || release === undefined) {
  const reason = isWhole
    ? 'there is no git history to build the last release of'
    : 'it builds the last release, by `npm run test:long -- upgrade` alone';
  describe('[D100] the last release beside this one', () => it.skip(`skipped: ${reason}`, () => undefined));
} else
  describeBuilt(`[D100] ${release.version} beside this one`, () => {
    describeOnEmptyDatabase('on one database', (database) => {
      const partner = Partner.create({ issuer: 'https://partner.example' });
      let oldRoot: string;
      let former: Instance;
      let present: Instance;

      beforeAll(async () => {
        oldRoot = build(release.commit);
        const common = {
          SVC_DATABASE_URL: database().url,
          SVC_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
          SVC_TOKEN_EXCHANGE_TRUSTED_KEYS: JSON.stringify([partner.staticEntry()]),
          SVC_TOKEN_EXCHANGE_EMBED_LOGIN_PER_MINUTE: '1000000',
          SVC_TOKEN_EXCHANGE_TOKEN_EXCHANGE_PER_MINUTE: '1000000',
        };
        const first = await surroundingsOf(common);
        // Access tokens name their issuer: the instances are behind one address.
        const second = await surroundingsOf({ ...common, SVC_BASE_URL: first.baseUrl });
        former = new Instance({ ...first, packageRoot: oldRoot }, first.baseUrl);
        present = new Instance(second, second.baseUrl);
      });
      afterAll(async () => {
        await Promise.all([former?.stop(), present?.stop()]);
        former?.remove();
        present?.remove();
        if (oldRoot !== undefined) rmSync(oldRoot, { recursive: true, force: true });
      });

      /** What one uses up counts for the other; of what is issued only the present release asks for the generation (D62). */
      const expectCommon = async (one: Instance, other: Instance) => {
        const taken = other === present ? 401 : 200;
        const token = partner.sign();
        const { status, accessToken } = await one.exchange(token);
        expect(status).toBe(200);
        expect((await other.exchange(token)).status).toBe(400);
        expect(await other.me({ authorization: `Bearer ${accessToken}` })).toBe(taken);
        const loginToken = partner.sign();
        const { status: opened, cookie } = await one.login(loginToken);
        expect(opened).toBe(303);
        expect((await other.login(loginToken)).status).toBe(401);
        expect(await other.me({ cookie })).toBe(taken);
      };

      it('[D100] the migrations run while the last release serves, and no request fails', async () => {
        await former.start();
        const statuses: number[] = [];
        let isEnding = false;
        const traffic = (async () => {
          while (!isEnding) {
            statuses.push((await former.exchange(partner.sign())).status);
            statuses.push((await former.login(partner.sign())).status);
          }
        })();
        await present.start();
        const before = statuses.length;
        while (statuses.length < before + SOME) await new Promise((resolve) => setTimeout(resolve, 20));
        isEnding = true;
        await traffic;
        expect(statuses.filter((status) => status !== 200 && status !== 303)).toEqual([]);
      });

      it('[D100] both serve, and what one uses up counts for the other', async () => {
        await expectCommon(former, present);
        await expectCommon(present, former);
      });

      it('[D100] back to the last release, and on again: it serves on the new tables', async () => {
        const token = partner.sign();
        const { accessToken } = await present.exchange(token);
        await present.stop();
        await former.stop();
        await former.start();
        expect((await former.exchange(token)).status).toBe(400);
        expect(await former.me({ authorization: `Bearer ${accessToken}` })).toBe(200);
        expect((await former.exchange(partner.sign())).status).toBe(200);
        expect((await former.login(partner.sign())).status).toBe(303);
        await present.start();
        await expectCommon(former, present);
        await expectCommon(present, former);
      });
    });
  });
