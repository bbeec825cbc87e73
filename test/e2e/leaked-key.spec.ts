// A stolen key: one command ends the tokens and sessions that it signed, while the service runs. Another command trusts it again.
import { Partner } from '../../demo/partner.js';
import { VERSION } from '../../src/platform/version.js';
import { eventsOf } from '../support/audit.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { linkedUser } from '../support/local-users.js';
import { bearerStatus, meStatus } from '../support/logins.js';
import { CommandLine } from '../support/run-cli.js';
import { BASE_URL, TestService } from '../support/test-service.js';
import { until } from '../support/until.js';

const ISSUER = 'https://partner.example';
const WITHIN_MS = 60_000;
const TIME = '\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z';

describeOnEachDatabase('[D59] a key that was stolen', (database) => {
  const stolen = Partner.create({ issuer: ISSUER, kid: 'stolen', audience: BASE_URL });
  const next = Partner.create({ issuer: ISSUER, kid: 'next', audience: BASE_URL });
  const agent = Partner.create({ issuer: 'https://agent.example', kid: 'agent', audience: BASE_URL });
  const trustedKeys = [stolen, next, agent].map((partner) => partner.staticEntry());
  const service = TestService.forBlock(database, { trustedKeys });
  const line = new CommandLine(() => database.environment, VERSION);

  const untilStatus = (status: number, ask: () => Promise<number>) =>
    until(`it answers ${status}`, WITHIN_MS, async () => (await ask()) === status);
  const exchange = async (partner: Partner) =>
    (await service.exchange({ subject_token: partner.sign() })).status;
  const keyOptions = ['--issuer', ISSUER, '--kid', 'stolen'];

  it('loses its tokens, its sessions and its trust by one command, and gets only its trust back by another', async () => {
    const [own, delegated] = [
      await service.accessToken({ subject_token: stolen.sign() }),
      await service.accessToken({ subject_token: stolen.sign(), actor_token: agent.sign() }),
    ];
    const session = await service.sessionCookie(stolen.sign());
    const good = await service.accessToken({ subject_token: next.sign(), actor_token: agent.sign() });
    expect([
      await bearerStatus(service, own),
      await bearerStatus(service, delegated),
      await meStatus(service, session),
    ]).toEqual([200, 200, 200]);

    expect(await line.output(['keys', 'revoke', ...keyOptions])).toMatch(
      new RegExp(
        `^Revoked at ${TIME}: the key stolen of ${ISSUER}\\. Sessions and access tokens from its tokens end on every instance`,
      ),
    );
    await untilStatus(401, () => bearerStatus(service, own));
    expect([
      await bearerStatus(service, delegated),
      await meStatus(service, session),
      await bearerStatus(service, good),
    ]).toEqual([401, 401, 200]);
    expect([await exchange(stolen), await exchange(next)]).toEqual([400, 200]);
    expect((await service.embed({ token: stolen.sign() })).status).toBe(401);

    expect(JSON.parse(await line.output(['keys', 'revocations', '--json']))).toMatchObject([
      { issuer: ISSUER, kid: 'stolen', restoredAt: null },
    ]);
    expect(await line.output(['keys', 'restore', ...keyOptions])).toBe(
      `Restored: the key stolen of ${ISSUER}. Access tokens and sessions from before stay ended.\n`,
    );
    await untilStatus(200, () => exchange(stolen));
    expect([
      await bearerStatus(service, own),
      await bearerStatus(service, delegated),
      await meStatus(service, session),
    ]).toEqual([401, 401, 401]);
    expect(await line.output(['keys', 'revocations'])).toMatch(
      new RegExp(`^ISSUER .*\n${ISSUER} +stolen +restored +${TIME} +${TIME}\n$`),
    );
    const told = (await eventsOf(service)).map(({ name, payload }) => ({ name, payload }));
    const trust = { issuer: ISSUER, kid: 'stolen' };
    for (const [operation, name] of [
      ['keys revoke', 'trust-revoked'],
      ['keys restore', 'trust-restored'],
    ])
      expect(told).toEqual(
        expect.arrayContaining([
          {
            name: 'svc.audit.administration.performed',
            payload: { operation, way: database.kind === 'embedded' ? 'service' : 'database', targets: {} },
          },
          { name: `svc.audit.token-exchange.${name}`, payload: trust },
        ]),
      );
  });

  it('is revoked with all keys of its issuer if no kid is named; each restoration says what is left', async () => {
    await line.output(['keys', 'revoke', '--issuer', ISSUER]);
    await line.output(['keys', 'revoke', ...keyOptions]);
    await untilStatus(400, () => exchange(next));
    expect(await line.output(['keys', 'restore', '--issuer', ISSUER])).toBe(
      `Restored: every key of ${ISSUER}. Access tokens and sessions from before stay ended.\n` +
        `Still revoked: the key stolen of ${ISSUER}.\n`,
    );
    await untilStatus(200, () => exchange(next));
    expect(await exchange(stolen)).toBe(400);
    await line.output(['keys', 'restore', ...keyOptions]);
    await untilStatus(200, () => exchange(stolen));
    const again = await line.run(['keys', 'restore', ...keyOptions]);
    expect([again.exitCode, again.stderr]).toEqual([
      1,
      'error: No such revocation is in force; see svc-admin keys revocations.\n',
    ]);
  });

  it.each([
    [
      'an issuer of no entry',
      `${ISSUER}/`,
      undefined,
      'warning: no trusted key entry has this issuer; is it spelt as in the tokens?\n',
    ],
    [
      'a kid of no entry',
      ISSUER,
      'stole',
      'warning: no trusted key entry of this issuer has this kid; is it spelt as in the tokens?\n',
    ],
  ])('is revoked with a hint if it may be misspelt: %s', async (_, issuer, kid, hint) => {
    const keys = ['--issuer', issuer, ...(kid === undefined ? [] : ['--kid', kid])];
    const trustedKeys = JSON.stringify([stolen.staticEntry(), next.staticEntry()]);
    const environment = {
      ...database.environment,
      SVC_TOKEN_EXCHANGE_TRUSTED_KEYS: trustedKeys,
    };
    const { exitCode, stderr } = await line.run(['keys', 'revoke', ...keys], environment);
    expect([exitCode, stderr]).toEqual([0, hint]);
    await line.output(['keys', 'restore', ...keys]);
  });

  it('is revoked even if the configuration cannot be read', async () => {
    const environment = {
      ...database.environment,
      SVC_TOKEN_EXCHANGE_TRUSTED_KEYS_FILE: '/absent/keys.json',
    };
    const { exitCode, stdout, stderr } = await line.run(['keys', 'revoke', ...keyOptions], environment);
    expect([exitCode, stdout.slice(0, 10), stderr]).toEqual([0, 'Revoked at', '']);
    await line.output(['keys', 'restore', ...keyOptions]);
  });

  it('[D7] a user of it is signed out everywhere by another command', async () => {
    const token = await service.accessToken({ subject_token: next.sign(next.claims({ sub: 'ada' })) });
    const session = await service.sessionCookie(next.sign(next.claims({ sub: 'ada' })));
    const user = await linkedUser(service, ISSUER, 'ada');
    expect(await line.output(['users', 'sign-out', user?.email ?? ''])).toBe(
      `User ${user?.id} is signed out: 1 session, and every access token issued until now.\n`,
    );
    await untilStatus(401, () => bearerStatus(service, token));
    expect(await meStatus(service, session)).toBe(401);
    const nobody = await line.run(['users', 'sign-out', 'nobody@partner.example']);
    expect([nobody.exitCode, nobody.stderr]).toEqual([
      1,
      'error: There is no user with this id or e-mail address.\n',
    ]);
  });
});
