// The integration check, run as partners run it, against correct instances and instances with one fault each.
import { join } from 'node:path';
import { Partner } from '../../demo/partner.js';
import { CHECKS } from '../../packages/partner/src/check.js';
import { readCheckArguments } from '../../packages/partner/src/check-options.js';
import { Clock } from '../../src/platform/clock.js';
import { describeOnAnyDatabase, TestDatabase } from '../support/databases.js';
import { blocksOf } from '../support/init-instance.js';
import type { TestServiceOptions } from '../support/test-service.js';
import { TestService } from '../support/test-service.js';
import type { CheckedResult, Ran } from './support/check-run.js';
import { CheckFolder } from './support/check-run.js';
import { CLIENT } from './support/packed-client.js';
import type { Passing, Rewriting } from './support/rewriting-proxy.js';
import { RewritingProxy } from './support/rewriting-proxy.js';

const ISSUER = 'https://partner.example';
const BUILD_MS = 300_000;
const EMAIL = 'check@partner.example';

/** A running clock with a constant error. */
class WrongClock extends Clock {
  constructor(private readonly aheadSeconds: number) {
    super();
  }

  override nowMs(): number {
    return super.nowMs() + this.aheadSeconds * 1000;
  }
}

interface Checked extends Ran {
  readonly failed: readonly string[];
  readonly skipped: readonly string[];
  readonly of: (id: string) => CheckedResult | undefined;
}

jest.setTimeout(BUILD_MS);

describeOnAnyDatabase('the integration check', (database) => {
  /** Ids of checks that have failed in some test. */
  const seenToFail = new Set<string>();
  const others: { service: TestService; database: TestDatabase }[] = [];
  let proxy: RewritingProxy;
  let partner: Partner;
  let folder: CheckFolder;
  let service: TestService;

  beforeAll(async () => {
    proxy = await RewritingProxy.listen();
    partner = Partner.create({ issuer: ISSUER, audience: proxy.origin });
    folder = new CheckFolder(partner);
    service = await TestService.start(database, optionsOf());
  }, BUILD_MS);
  beforeEach(() => proxy.leadTo([service.address]));
  afterEach(async () => {
    for (const other of others.splice(0)) {
      await other.service.stop();
      await other.database.remove();
    }
  });
  afterAll(async () => {
    await service?.stop();
    await proxy?.close();
    folder?.remove();
  });

  const optionsOf = (more: TestServiceOptions & { entry?: object } = {}): TestServiceOptions => {
    const { entry, environment, ...rest } = more;
    return {
      trustedKeys: [partner.staticEntry({ ...entry })],
      ...rest,
      environment: { SVC_BASE_URL: proxy.origin, ...environment },
    };
  };

  /** An instance on a database of its own. */
  async function another(more: TestServiceOptions & { entry?: object } = {}): Promise<TestService> {
    const own = TestDatabase.ofAnyKind();
    await own.create();
    const started = await TestService.start(own, optionsOf(more));
    others.push({ service: started, database: own });
    return started;
  }

  const argumentsOf = (more: Readonly<Record<string, string>> = {}) => {
    const named = {
      ...{ 'base-url': proxy.origin, key: 'key.pem', kid: partner.kid, issuer: ISSUER },
      ...{ audience: proxy.origin, email: EMAIL, 'per-minute': '6000' },
      ...more,
    };
    return ['check', ...Object.entries(named).flatMap(([name, value]) => [`--${name}`, value])];
  };

  async function checked(more: Readonly<Record<string, string>> = {}, certificate = proxy.certificate) {
    const ran = await folder.run([...argumentsOf(more), '--json'], certificate);
    expect(ran.stderr).toBe('');
    const { checks, ...counts } = JSON.parse(ran.stdout) as { checks: CheckedResult[]; baseUrl: string };
    const idsOf = (status: string) => checks.filter((each) => each.status === status).map(({ id }) => id);
    const [passed, failed, skipped] = [idsOf('passed'), idsOf('failed'), idsOf('skipped')];
    expect(checks.map(({ id }) => id)).toEqual(CHECKS.map(({ id }) => id));
    expect(counts).toMatchObject({ passed: passed.length, failed: failed.length, skipped: skipped.length });
    expect(ran.exitCode).toBe(failed.length > 0 ? 1 : 0);
    for (const id of failed) seenToFail.add(id);
    return { ...ran, failed, skipped, of: (id: string) => checks.find((each) => each.id === id) } as Checked;
  }

  async function checkedBehind(rewriting: Rewriting): Promise<Checked> {
    proxy.leadTo([service.address], rewriting);
    return checked();
  }

  it('passes against a complete instance behind a proxy, and creates one user', async () => {
    const { failed, skipped } = await checked();
    expect({ failed, skipped }).toEqual({ failed: [], skipped: [] });
    await checked();
    const created = service.log.filter(({ event }) => event === 'svc.audit.token-exchange.user-provisioned');
    expect(created).toHaveLength(1);
  });

  it('[D27] reports a proxy that does not send X-Forwarded-Proto: a table with cause, remedy and request id', async () => {
    proxy.leadTo([service.address], { request: (headers) => delete headers['x-forwarded-proto'] });
    const { exitCode, stdout } = await folder.run(argumentsOf(), proxy.certificate);
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/^passed {3}metadata {10}The metadata names the base URL$/m);
    expect(stdout).toMatch(
      /^FAILED {3}forwarded-proto .*\n +Found: .*\n +Cause: .* the proxy does not send X-Forwarded-Proto.*\n +Remedy: .*SVC_PROXY_HOPS.*\n +Request id: [\w-]{8,}$/m,
    );
    expect(stdout).toMatch(/\n\n25 checks: 24 passed, 1 failed, 0 skipped\n$/);
  });

  it('prints neither key nor token', async () => {
    proxy.leadTo([service.address], { answer: (answer) => (answer.status = 418) });
    for (const args of [argumentsOf(), [...argumentsOf(), '--json']]) {
      const { stdout, stderr } = await folder.run(args, proxy.certificate);
      expect(stdout + stderr).not.toMatch(/eyJ|PRIVATE/);
    }
  });

  it('[D27] reports an instance that does not trust its proxy', async () => {
    const untrusting = await another({ environment: { SVC_PROXY_HOPS: '0' } });
    proxy.leadTo([untrusting.address]);
    const { failed, of } = await checked();
    expect(failed).toEqual(['forwarded-proto']);
    expect(of('forwarded-proto')?.cause).toContain('does not trust the proxy');
  });

  it("[D27] does not treat a proxy's header as proof that the instance knows of HTTPS", async () => {
    const { failed, skipped } = await checkedBehind({
      request: (headers) => delete headers['x-forwarded-proto'],
      answer: ({ headers }) => (headers['strict-transport-security'] = 'max-age=600'),
    });
    expect({ failed, skipped }).toEqual({ failed: [], skipped: ['forwarded-proto'] });
  });

  it('[D27] reports a proxy that lets clients choose their address and request id', async () => {
    const { failed, of } = await checkedBehind({
      request: (headers, received) => {
        headers['x-forwarded-for'] = received['x-forwarded-for'] ?? headers['x-forwarded-for'];
        headers['x-request-id'] = received['x-request-id'];
        if (headers['x-request-id'] === undefined) delete headers['x-request-id'];
      },
    });
    expect(failed).toEqual(['request-id', 'client-address']);
    expect(of('client-address')?.cause).toContain('believes the X-Forwarded-For of clients');
    expect(of('request-id')?.remedy).toContain('overwrite X-Request-Id');
  });

  it('[D29] reports two instances that sign with different keys, because each has its own database', async () => {
    proxy.leadTo([service.address, (await another()).address]);
    const { failed, of } = await checked();
    expect(failed).toEqual(expect.arrayContaining(['instances', 'replay']));
    expect(of('instances')).toMatchObject({
      found: 'of 8 calls with one access token 4 were refused',
      cause: expect.stringContaining('different keys'),
      remedy: expect.stringContaining('SVC_DATABASE_URL'),
    });
    expect(of('replay')?.cause).toContain('do not share a database');
  });

  it('[D37] reports two instances that do not trust the same keys', async () => {
    const stranger = await another({ trustedKeys: [] });
    for (const order of [
      [stranger.address, service.address],
      [service.address, stranger.address],
    ]) {
      proxy.leadTo(order);
      const results = (await checked()).of;
      const causes = ['exchange', 'login', 'instances'].map((id) => results(id)?.cause);
      expect(causes).toContain('The instances behind this address do not trust the same keys.');
    }
  });

  it.each([
    [90, 'ahead of'],
    [-90, 'behind'],
  ])('[D97] reports a clock that is wrong by %i seconds', async (seconds, side) => {
    const wrong = await another({ clock: new WrongClock(seconds) });
    const moved = ({ headers }: Passing) => {
      headers.date = new Date(Date.parse(headers.date ?? '') + seconds * 1000).toUTCString();
    };
    // The clock of a machine is in `Date` too, unless a proxy writes its own.
    for (const answer of [moved, () => undefined]) {
      proxy.leadTo([wrong.address], { answer });
      const { failed, of } = await checked();
      expect(failed).toEqual(expect.arrayContaining(['login', 'clock']));
      for (const id of ['login', 'clock'])
        expect(of(id)).toMatchObject({
          cause: expect.stringContaining(`${side} this machine's`),
          remedy: expect.stringContaining('NTP'),
        });
    }
  });

  it('[D58] reports an instance with another base address', async () => {
    const elsewhere = await another({ environment: { SVC_BASE_URL: 'https://elsewhere.example' } });
    proxy.leadTo([elsewhere.address]);
    const { failed, of } = await checked();
    expect(failed).toEqual(['metadata', 'access-token']);
    expect(of('metadata')).toMatchObject({
      found: `the metadata names "https://elsewhere.example", and --base-url is "${proxy.origin}"`,
      cause: expect.stringContaining('another base address'),
      remedy: expect.stringContaining('SVC_BASE_URL'),
    });
  });

  it('[5.5.1] reports an entry without an audience', async () => {
    const lenient = await another({ entry: { expectedAudience: undefined } });
    proxy.leadTo([lenient.address]);
    const { failed, of } = await checked();
    expect(failed).toEqual(['audience']);
    expect(of('audience')?.cause).toContain('has no expectedAudience');
  });

  it.each([
    ['another audience', { audience: 'https://elsewhere.example' }, 'expectedAudience'],
    ['another kid', { kid: 'another' }, '--kid'],
    ['another issuer', { issuer: 'https://elsewhere.example' }, '--issuer'],
    ['a user whom the instance cannot create', { subject: 'nobody', email: '' }, '--email'],
  ])('[D77] reports %s, and skips the checks that it would make meaningless', async (_, more, remedy) => {
    const { failed, skipped, of } = await checked(more);
    expect(failed).toEqual(['exchange', 'login']);
    expect(of('login')?.remedy).toContain(remedy);
    expect(skipped).toEqual(expect.arrayContaining(['replay', 'expired', 'audience', 'claims']));
  });

  it('[1.4] reports an untrusted certificate, and skips all other checks', async () => {
    const { certificate } = await withProxy(async (stranger) => stranger);
    const { failed, skipped, of } = await checked({}, certificate);
    expect(failed).toEqual(['connection']);
    expect(skipped).toHaveLength(CHECKS.length - 1);
    expect(of('connection')?.cause).toContain('certificate');
  });

  it('reports an address without a server', async () => {
    const gone = await withProxy(async ({ origin }) => origin);
    const { failed, of } = await checked({ 'base-url': gone });
    expect(failed).toEqual(['connection']);
    expect(of('connection')).toMatchObject({
      found: 'no answer (ECONNREFUSED)',
      cause: expect.stringContaining('cannot be reached'),
    });
  });

  it('[7.3] skips a flow that the partner does not use', async () => {
    const exchangeOnly = await another({ environment: { SVC_EMBED_LOGIN_ENABLED: 'false' } });
    proxy.leadTo([exchangeOnly.address]);
    const { failed, skipped } = await checked({ flows: 'exchange' });
    expect({ failed, skipped }).toEqual({
      failed: [],
      skipped: ['login', 'cookie', 'session', 'redirect', 'login-lifetime'],
    });
    expect((await checked()).of('login')?.remedy).toContain('--flows');
  });

  const embedAnswers: Rewriting['answer'] = (answer, path) => {
    if (path === '/rest/auth/embed' && answer.status >= 400) answer.status = 303;
  };
  const exchangeAnswers: Rewriting['answer'] = (answer, path) => {
    if (path === '/rest/auth/oauth/token' && answer.status >= 400) answer.status = 200;
  };
  const REFUSED = ['replay', 'expired', 'future', 'audience', 'signature', 'algorithm', 'header', 'claims'];

  it.each([
    ['a login', embedAnswers, [...REFUSED.slice(0, 3), 'login-lifetime', ...REFUSED.slice(3)]],
    ['an exchange', exchangeAnswers, [...REFUSED, 'error-bodies']],
  ])('[5.2.1] reports each token that %s should refuse but accepts', async (_, answer, expected) => {
    const { failed, of } = await checkedBehind({ answer });
    expect(failed).toEqual(expected);
    expect(of('algorithm')).toMatchObject({
      found: expect.stringContaining('accepted the token, expected algorithm_not_allowed'),
      remedy: expect.stringContaining('Stop using this instance'),
    });
  });

  it.each<[string, string, Rewriting['answer']]>([
    [
      'publishes a private key',
      'key-set',
      (answer) => (answer.text = answer.text.replace('"kty"', '"d":"x","kty"')),
    ],
    ['removes flags of the cookie', 'cookie', ({ headers }) => removeFlag(headers)],
    ['removes the cookie', 'cookie', ({ headers }) => delete headers['set-cookie']],
    ['leads a login elsewhere', 'redirect', ({ headers }) => headers.location && (headers.location = '//x')],
    ['replaces error pages', 'error-bodies', (answer) => replaceErrors(answer)],
    ['lets an exchange be cached', 'exchange', ({ headers }) => (headers['cache-control'] = 'max-age=60')],
  ])('reports a proxy that %s', async (_, id, answer) => {
    const { failed, of } = await checkedBehind({ answer });
    expect(failed).toContain(id);
    expect(of(id)?.remedy).toMatch(/^[A-Z].*\.$/);
  });

  it.each(['authorization', 'cookie'])('reports a proxy that removes %s', async (name) => {
    const { failed, of } = await checkedBehind({ request: (headers) => delete headers[name] });
    const id = name === 'cookie' ? 'session' : 'api';
    expect(failed).toContain(id);
    expect(of(id)?.cause).toMatch(new RegExp(`removes ${name}`, 'i'));
  });

  it.each<[string, string[], RegExp]>([
    ['no command', [], /^The command is ""\. It must be check\./],
    ['no base URL', ['check'], /^--base-url is missing\./],
    ['an unknown option', ['check', '--bogus'], /--bogus/],
    ['a base URL with a path', argumentsWith('base-url', 'https://a.example/x'), /baseUrl must be an origin/],
    ['plain HTTP to elsewhere', argumentsWith('base-url', 'http://a.example'), /must be https:/],
    ['no key in the file', argumentsWith('key', 'package.json'), /^key is not the PEM of a private key/],
    ['an algorithm of another key', argumentsWith('alg', 'RS256'), /can sign ES256/],
  ])('exits with 2 for %s, and sends nothing', async (_, args, message) => {
    const { exitCode, stdout, stderr } = await folder.run(args);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toMatch(message);
    expect(stderr).toContain('Usage: npx @embedded-token-exchange/partner check');
  });

  it("accepts the command in the package's README", () => {
    const printed = blocksOf('packages/partner/README.md', 'sh').find((text) => text.includes(' check '));
    const [npx, name, ...args] = (printed ?? '').replaceAll('\\\n', ' ').trim().split(/ +/);
    expect([npx, name]).toEqual(['npx', CLIENT]);
    const placed = args.map((each) => (each === 'partner-key.pem' ? join(folder.path, 'key.pem') : each));
    expect(readCheckArguments(placed)).toMatchObject({
      baseUrl: 'https://instance.example',
      audience: 'https://instance.example',
      issuer: ISSUER,
      flows: ['exchange', 'embed'],
      perMinute: 15,
    });
  });

  it('has each check fail in a test', () => {
    expect(CHECKS.map(({ id }) => id).filter((id) => !seenToFail.has(id))).toEqual([]);
  });
});

type Headers = Passing['headers'];

async function withProxy<T>(work: (proxy: RewritingProxy) => Promise<T>): Promise<T> {
  const proxy = await RewritingProxy.listen();
  try {
    return await work(proxy);
  } finally {
    await proxy.close();
  }
}

function removeFlag(headers: Headers): void {
  const cookies = headers['set-cookie']?.map((cookie) => cookie.replace('; SameSite=None', ''));
  if (cookies !== undefined) headers['set-cookie'] = cookies;
}

function replaceErrors(answer: Passing): void {
  if (answer.status !== 400) return;
  answer.headers['content-type'] = 'text/html';
}

/** Whole arguments, one of them replaced. */
function argumentsWith(name: string, value: string): string[] {
  const named = { 'base-url': 'https://a.example', key: 'key.pem', issuer: ISSUER, [name]: value };
  return ['check', ...Object.entries(named).flatMap(([option, text]) => [`--${option}`, text])];
}
