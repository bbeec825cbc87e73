// svc-admin token explain, run while the service runs, on both databases.
import { Partner } from '../../demo/partner.js';
import type { ExplainedRequest } from '../../src/administration/explain/explain-token.operation.js';
import { VERSION } from '../../src/platform/version.js';
import type { TokenExplanation } from '../../src/token-exchange/explain/token-explanation.js';
import { eventsOf, requestIdOf } from '../support/audit.js';
import { census } from '../support/census.js';
import type { TestDatabase } from '../support/databases.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { licenseEnvironment } from '../support/license.js';
import { CommandLine } from '../support/run-cli.js';
import { BASE_URL, TestService } from '../support/test-service.js';

const SECRETIVE = { sub: 'customer-of-ours', email: 'ann@mail.product.example' };
const OUTSIDE = 'https://outside.example';

describeOnEachDatabase('[D80] token explain', (database: TestDatabase) => {
  const partner = Partner.create({ issuer: 'https://explained.example', kid: 'k', audience: BASE_URL });
  const trustedKeys = [
    Partner.create({ issuer: 'https://first.example' }).staticEntry(),
    partner.staticEntry({ name: 'product', allowedRoles: ['global:member'], resources: [OUTSIDE] }),
  ];
  let license: Record<string, string>;
  const environment = () => ({
    ...database.environment,
    ...license,
    SVC_ENV_FEAT_TOKEN_EXCHANGE: 'true',
    SVC_TOKEN_EXCHANGE_ENABLED: 'true',
    SVC_EMBED_LOGIN_ENABLED: 'true',
    SVC_TOKEN_EXCHANGE_TRUSTED_KEYS: JSON.stringify(trustedKeys),
    SVC_BASE_URL: BASE_URL,
  });
  const commands = new CommandLine(environment, VERSION);
  beforeAll(async () => void (license = await licenseEnvironment()));
  const service = TestService.forBlock(database, { trustedKeys });

  const token = (claims: object = {}) => partner.sign(partner.claims({ ...SECRETIVE, ...claims }));
  const explain = (stdin: string, ...args: string[]) =>
    commands.run(['token', 'explain', ...args], environment(), stdin);
  const said = async (stdin: string, ...args: string[]) => {
    const { exitCode, stdout, stderr } = await explain(stdin, ...args);
    const isRefused = /would be refused|"outcome": "refused"/.test(stdout);
    expect([exitCode, stderr]).toEqual(
      isRefused ? [1, expect.stringContaining('The service would refuse this token: ')] : [0, ''],
    );
    return stdout;
  };
  const parsed = async (stdin: string, ...args: string[]) =>
    JSON.parse(await said(stdin, '--json', ...args)) as TokenExplanation;

  it('[D80] names check, cause, remedy, values, entry and policy of a refused token', async () => {
    const refused = token({ role: 'global:admin' });
    const text = await said(`${refused}\n`);
    expect(text).toMatch(
      /^A token exchange would be refused: role_not_allowed\nCheck: {4}role, of the subject token\n/,
    );
    expect(text).toMatch(/\nCause: {4}the entry does not allow the requested role\n/);
    expect(text).toMatch(/\nRemedy: {3}request an allowed role or none/);
    expect(text).toContain('\nExpected: global:member\nFound:    global:admin\n');
    expect(text).toContain(
      '\n  Entry: product (configured, index 1, static)\n  Policy: logins posted by any page; may assign global:member; ',
    );
    expect(text).toMatch(/\nPassed: .*audience \(subject\), .*\.\n/);
    expect(text).not.toMatch(/^passed /m);
    expect(text).toMatch(/\nfailed +subject +role +global:member +global:admin\n/);
    expect(text).toContain('subject c***, email a***@m***.example');
    for (const secret of [refused, SECRETIVE.sub, SECRETIVE.email, 'product.example'])
      expect(text).not.toContain(secret);
  });

  it('[D80] says what a good token would get, and leaves it good', async () => {
    const good = token({ given_name: 'Ann' });
    commands.write('token.txt', good);
    commands.write('actor.txt', token({ sub: 'robot', email: 'robot@product.example' }));
    const args = ['--token-file', 'token.txt', '--actor-token-file', 'actor.txt', '--resource', OUTSIDE];
    const text = await said('', ...args);
    expect(text).toMatch(/^A token exchange would succeed: an access token of \d\d s, until /);
    expect(text).toContain(`\nScopes: not limited\nAudience: ${OUTSIDE}\nRights: the acting user's\n`);
    expect(text).toContain('\n  User: a new one, to be created; role global:member; changed: givenName');
    expect(text).not.toContain('Not reached');
    expect(text).toMatch(
      /\npassed +subject +audience +aud +https:\/\/instance\.example +https:\/\/instance\.example\n/,
    );
    const { tokens, issued } = await parsed('', ...args);
    expect(tokens.map(({ party }) => party)).toEqual(['subject', 'actor']);
    expect(issued).toMatchObject({ kind: 'access-token', audience: OUTSIDE });
    expect(await said(good, '--flow', 'embed')).toMatch(
      /^An embedded login would succeed: a session of 3600 s is opened\.\n/,
    );
    await service.accessToken({ subject_token: good });
    expect((await parsed(good)).refusal).toMatchObject({
      reason: 'token_replayed',
      cause: expect.stringContaining('in any flow and by any issuer'),
      remedy: expect.stringContaining('random `jti`'),
    });
  });

  it('[D80] names the flow, and an entry that is stored', async () => {
    const stored = Partner.create({ issuer: 'https://stored.example', audience: BASE_URL });
    commands.write('stored.json', JSON.stringify(stored.staticEntry({ name: 'kept' })));
    expect(await commands.run(['keys', 'add', '--file', 'stored.json'], environment())).toMatchObject({
      exitCode: 0,
    });
    const asked = stored.sign(stored.claims(SECRETIVE));
    expect(await said(asked)).toContain('\n  Entry: stored:kept (stored, static)\n');
    expect(await said(asked, '--flow', 'id-jag')).toMatch(/^An identity assertion would be refused: /);
    expect(await said(asked, '--flow', 'jwt-bearer')).toMatch(/^A JWT assertion would be refused: /);
  });

  it('[D80] is in the trail by its name alone, and in no log with anything of the token', async () => {
    const asked = token();
    const before = await census(service);
    const logged = service.log.length;
    await said(asked);
    await explain('no-token', '--flow', 'embed');
    expect(await census(service)).toEqual({ ...before, auditEvents: before.auditEvents + 2 });
    const way = database.kind === 'embedded' ? 'service' : 'database';
    const rows = (await eventsOf(service)).slice(-2);
    expect(rows.map(({ name, payload }) => ({ name, payload }))).toEqual(
      [0, 1].map(() => ({
        name: 'svc.audit.administration.read',
        payload: { operation: 'token explain', way, targets: {} },
      })),
    );
    const written = JSON.stringify([rows, service.log.slice(logged)]);
    const [header = '', payload = '', signature = ''] = asked.split('.');
    for (const secret of [header, payload, signature, SECRETIVE.sub, SECRETIVE.email])
      expect(written).not.toContain(secret);
  });

  it('[D80] says why a request was refused, by its id', async () => {
    const refused = await service.exchange({ subject_token: token({ role: 'global:admin' }) });
    const text = await said('', '--request-id', requestIdOf(refused));
    expect(text).toMatch(
      /^Request \S+\n\n\S+Z svc\.audit\.token-exchange\.failed: role_not_allowed\nCheck: {4}role\n/,
    );
    expect(text).toContain('\nCause:    the entry does not allow the requested role\nRemedy:   ');
    expect(text).toContain('\nExpected: global:member\nFound:    global:admin\nOf:       ');
    expect(text).toContain('flow exchange, ');
    expect(text).toContain(`issuer ${partner.issuer}, kid k`);
    expect(text).not.toMatch(/@|customer-of-ours/);

    const login = await service.embed({ token: token({ sub: 'new', email: 'new@product.example' }) });
    const { events } = JSON.parse(
      await said('', '--json', '--request-id', requestIdOf(login)),
    ) as ExplainedRequest;
    expect(events.map(({ event, reason, cause }) => [event.split('.').at(-1), reason, cause])).toEqual([
      ['user-provisioned', null, null],
      ['embed-login', null, null],
    ]);

    const headers = { authorization: 'Bearer nothing' };
    const call = await service.fetch('/api/v1/workflows', { headers });
    expect(await said('', '--request-id', requestIdOf(call))).toMatch(
      / svc\.audit\.api\.refused: malformed\nCause: {4}`Authorization` has no Bearer or DPoP credential/,
    );
  });

  it('[D80] a reason that this release does not know is reported as it is', async () => {
    const statement = `INSERT INTO audit_event (name, occurred_at, request_id, payload) VALUES ($1, now(), $2, $3)`;
    const stored = (reason: string) =>
      service.rows(statement, ['svc.audit.token-exchange.failed', reason, JSON.stringify({ reason })]);
    await stored('key_unknown');
    await stored('internal_error');
    expect(await said('', '--request-id', 'key_unknown')).toContain(
      '\nCause:    this release has no such reason\n',
    );
    expect(await said('', '--request-id', 'internal_error')).toContain(
      '\nRemedy:   find the error in the log',
    );
  });

  it.each<[string, string[], number, string]>([
    ['', ['--request-id', 'nobody-s'], 1, 'error: The audit trail has no event of this request.'],
    ['', ['--request-id', ''], 2, 'error: --request-id must be a string'],
    ['', ['--request-id', 'a', '--flow', 'embed'], 2, "cannot be used with option '--flow <flow>'"],
    [' \n', [], 1, 'error: Standard input contains no token.'],
    ['a'.repeat(65_537), [], 1, 'error: Standard input has more than 65536 characters'],
    ['a', ['--actor-token-file', '-'], 2, 'error: Only one of them can come from standard input'],
    ['a', ['--flow', 'embed', '--scope', 'b'], 2, 'error: --scope is for token exchange.'],
  ])('refuses %.5j with the options %j', async (stdin, args, exitCode, complaint) => {
    const stderr: unknown = expect.stringContaining(complaint);
    expect(await explain(stdin, ...args)).toMatchObject({ exitCode, stdout: '', stderr });
  });

  it('accepts no token as an argument', async () => {
    expect(await explain('', token())).toMatchObject({ exitCode: 2, stdout: '' });
  });

  it('[D80] shows nothing that moves the cursor of a terminal', async () => {
    const text = await said(
      partner.sign(partner.claims({ iss: 'https://a\u001b[2J.example' }), { kid: '\u202e' }),
    );
    for (const sign of ['\u001b', '\u202e']) expect(text).not.toContain(sign);
    expect(text).toMatch(/^A token exchange would be refused: issuer_unknown\n/);
  });
});
