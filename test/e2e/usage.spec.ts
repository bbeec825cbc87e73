// How many users an issuer has: by command, at the operator's API and as a metric.
import { Partner } from '../../demo/partner.js';
import { ActiveUsersJob } from '../../src/audit/usage/active-users.job.js';
import { untilTrailIsSettled } from '../support/audit.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { changeUser, linkedUser } from '../support/local-users.js';
import { metricsOf } from '../support/metric-samples.js';
import { createOperator, errorOf, OPERATOR_ENVIRONMENT, signedIn } from '../support/operators.js';
import { CommandLine } from '../support/run-cli.js';
import { BASE_URL, TestService } from '../support/test-service.js';

const partner = Partner.create({ issuer: 'https://partner.example', kid: 'k1', audience: BASE_URL });
const other = Partner.create({ issuer: 'https://other.example', audience: BASE_URL });
const robot = Partner.create({ issuer: 'https://ci.example', audience: BASE_URL });
const JOB = '00000000-0000-4000-8000-00000000000b';
const trustedKeys = [
  partner.staticEntry({ name: 'first' }),
  { ...partner.staticEntry({ name: 'second', maxUsers: 7 }), kid: 'k2' },
  other.staticEntry(),
  robot.staticEntry({ signInAs: JOB, subjects: ['job'], scopes: ['workflow:read'], flows: ['exchange'] }),
];
const MONTH = new Date().toISOString().slice(0, 7);

describeOnEachDatabase('the usage of an instance', (database) => {
  const service = TestService.forBlock(database, { trustedKeys, environment: OPERATOR_ENVIRONMENT });
  const line = CommandLine.beside(database, () => trustedKeys);
  const enter = (from: Partner, sub: string) =>
    service.accessToken({ subject_token: from.sign(from.claims({ sub, email: `${sub}@partner.example` })) });
  const record = async () => {
    await untilTrailIsSettled((sql, parameters) => service.rows(sql, parameters));
    await service.part(ActiveUsersJob).run();
  };
  const usage = async (...options: string[]) =>
    JSON.parse(await line.output(['usage', '--json', ...options])) as unknown;
  const WANTED = [
    { issuer: robot.issuer, users: 0, maxUsers: null, months: [] },
    { issuer: other.issuer, users: 1, maxUsers: null, months: [{ month: MONTH, activeUsers: 1 }] },
    { issuer: partner.issuer, users: 1, maxUsers: 7, months: [{ month: MONTH, activeUsers: 2 }] },
  ];

  beforeAll(async () => {
    await service.rows(
      `INSERT INTO user_account (id, email, normalized_email, role) VALUES ('${JOB}', 'job@ci.example', 'job@ci.example', 'global:member')`,
    );
    await enter(robot, 'job');
    await enter(partner, 'ada');
    await enter(partner, 'ada');
    await service.embed({
      token: partner.sign(partner.claims({ sub: 'eve', email: 'eve@partner.example' })),
    });
    await enter(other, 'ada');
    await changeUser(service, (await linkedUser(service, partner.issuer, 'eve'))!.id, { enabled: false });
    await record();
  });

  it('counts each user of an issuer once a month, and no jobs, even if the trail is read repeatedly', async () => {
    expect(await usage()).toEqual(WANTED);
    await service.rows(
      `UPDATE audit_sink_cursor SET transaction_id = 9000000000 WHERE name = 'active-users'`,
    );
    await record();
    await record();
    expect(await usage()).toEqual(WANTED);
  });

  it('counts later users too, for the requested period', async () => {
    await service.rows(
      `INSERT INTO active_user VALUES (date_trunc('month', now() AT TIME ZONE 'UTC') - interval '1 month', '${other.issuer}', gen_random_uuid())`,
    );
    await enter(other, 'bob');
    await record();
    const months = [
      { month: MONTH, activeUsers: 2 },
      { month: expect.stringMatching(/^\d{4}-\d\d$/), activeUsers: 1 },
    ];
    expect(await usage()).toContainEqual(expect.objectContaining({ issuer: other.issuer, users: 2, months }));
    expect(await usage('--months', '1')).toContainEqual(
      expect.objectContaining({ issuer: other.issuer, months: months.slice(0, 1) }),
    );
  });

  it('is a table for people, and comma-separated values for spreadsheets', async () => {
    expect(await line.output(['usage'])).toMatch(
      new RegExp(`^ISSUER .*\\n.*https://partner\\.example +1 +7 +${MONTH} +2\\n`, 's'),
    );
    expect(await line.output(['usage', '--csv', '--months', '1'])).toBe(
      [
        'issuer,users,max_users,month,active_users',
        `"${robot.issuer}",0,,,0`,
        `"${other.issuer}",2,,${MONTH},2`,
        `"${partner.issuer}",1,7,${MONTH},2`,
        '',
      ].join('\n'),
    );
    expect(await line.run(['usage', '--csv', '--json'])).toMatchObject({ exitCode: 2, stdout: '' });
  });

  it("is shown at the operator's API", async () => {
    await createOperator(service, 'operator@instance.example');
    const browser = await signedIn(service, 'operator@instance.example');
    const { data } = (await (await browser.get('usage?months=1')).json()) as { data: unknown[] };
    expect(data).toEqual(await usage('--months', '1'));
    for (const query of ['months=0', 'months=x', 'year=2031'])
      expect(await errorOf(await browser.get(`usage?${query}`))).toEqual([400, 'bad_request']);
  });

  it('[P.maxUsers] is a metric of each entry whose issuer has a number of seats', async () => {
    const lines = (await metricsOf(service))
      .split('\n')
      .filter((one) => one.startsWith('svc_trusted_entry_'));
    const of = (name: string, entry: string, value: number) =>
      `svc_trusted_entry_${name}{entry="${entry}",issuer="${partner.issuer}"} ${value}`;
    expect(lines.sort()).toEqual(
      ['first', 'second'].flatMap((entry) => [of('users', entry, 1), of('max_users', entry, 7)]).sort(),
    );
  });

  it('[D38] leaves after two years', async () => {
    await service.rows(
      `INSERT INTO active_user SELECT now() - age * interval '1 day', 'https://old.example', gen_random_uuid()
       FROM unnest(ARRAY[761, 763]) AS age`,
    );
    await service.purge('active-user-purge');
    expect(await service.rows(`SELECT FROM active_user WHERE issuer = 'https://old.example'`)).toHaveLength(
      1,
    );
  });
});
