// An audit row is committed or rolled back with its work. Rolled-back events reach no listener. A failed signature leaves no success.
import { Partner } from '../../demo/partner.js';
import { SignOutService } from '../../src/token-exchange/login/sign-out.service.js';
import { RevocationService } from '../../src/token-exchange/revocation/revocation.service.js';
import { SigningKeyService } from '../../src/token-exchange/tokens/signing-key.service.js';
import { auditLines, EVENT, eventsOf, onEveryEvent } from '../support/audit.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { whileInsertsFail } from '../support/failing-inserts.js';
import { linkedUser } from '../support/local-users.js';
import { BASE_URL, TestService } from '../support/test-service.js';

const partner = Partner.create({ issuer: 'https://partner.example', audience: BASE_URL });

describeOnEachDatabase('[6.3] audit and the work it reports about', (database) => {
  const service = TestService.forBlock(database, { trustedKeys: [partner.staticEntry()] });
  const heard: string[] = [];

  beforeAll(() => onEveryEvent(service, ({ name }) => heard.push(name)));
  beforeEach(() => void (heard.length = 0));
  const successes = [`${EVENT}embed-login`, `${EVENT}succeeded`, `${EVENT}user-provisioned`];
  const expectNothing = async (requestId: string, email: string) => {
    const rows = await eventsOf(service, requestId);
    const names = [
      ...rows.map(({ name }) => name),
      ...heard,
      ...auditLines(service, requestId).map((l) => l['event']),
    ];
    expect(names.filter((name) => successes.includes(String(name)))).toEqual([]);
    expect(await service.rows('SELECT 1 FROM user_account WHERE email = $1', [email])).toEqual([]);
    expect(await service.rows('SELECT 1 FROM token_exchange_identity_link')).toEqual([]);
    expect(await service.rows('SELECT 1 FROM token_exchange_session')).toEqual([]);
  };

  it.each([
    ['at the statement', 'token_exchange_session'],
    ['at the commit', 'token_exchange_session'],
    ['at the statement', 'audit_event'],
    ['at the commit', 'audit_event'],
  ] as const)('[6.3] a login that fails %s into %s leaves no row and no event of it', async (when, table) => {
    const requestId = `failing-${when}-${table}`.replaceAll(' ', '-');
    const token = partner.sign();
    const fail = async () => {
      const answer = await service.embed({ token }, { 'x-request-id': requestId });
      expect(answer.status).toBe(500);
      expect(await answer.json()).toEqual({ error: 'internal_error', message: 'Internal error' });
      expect(answer.headers.get('set-cookie')).toBeNull();
    };
    await whileInsertsFail(service, table, fail, when);
    await expectNothing(requestId, 'customer-1@partner.example');
    const told = service.log.filter((line) => line['requestId'] === requestId && line['level'] === 'error');
    expect(told).toHaveLength(1);
    // A fault of the service may burn a jti, but never lets two successes through.
    expect((await service.embed({ token })).status).toBe(401);
  });

  it.each(['at the statement', 'at the commit'] as const)(
    '[6.1] an exchange whose audit row fails %s hands out no token and leaves nothing',
    async (when) => {
      const requestId = `failing-exchange-${when}`.replaceAll(' ', '-');
      const fields = { subject_token: partner.sign() };
      const send = () => service.exchange(fields, { 'x-request-id': requestId });
      const answer = await whileInsertsFail(service, 'audit_event', send, when);
      expect([answer.status, await answer.json()]).toMatchObject([500, { error: 'server_error' }]);
      await expectNothing(requestId, 'customer-1@partner.example');
    },
  );

  it('[D28] a logout whose audit row fails leaves the session', async () => {
    const cookie = await service.sessionCookie(partner.sign());
    heard.length = 0;
    const signOut = () => service.post('/rest/auth/logout', {}, { cookie, origin: BASE_URL });
    expect((await whileInsertsFail(service, 'audit_event', signOut, 'at the commit')).status).toBe(500);
    expect(heard).toEqual([]);
    expect((await service.fetch('/rest/me', { headers: { cookie } })).status).toBe(200);
  });

  it('[D59][D61][D7] a revocation that cannot be recorded has no effect', async () => {
    const cookie = await service.sessionCookie(partner.sign());
    const token = await service.accessToken({ subject_token: partner.sign() });
    const { issuer, kid } = partner;
    const user = await linkedUser(service, issuer, 'customer-1');
    heard.length = 0;
    const takeBack = async () => {
      const revocation = service.part(RevocationService).revoke({ issuer, kid }, 'failing-revocation');
      await expect(revocation).rejects.toThrow('made to fail');
      const signOut = service.part(SignOutService).signOutEverywhere(user?.id ?? '', 'failing-sign-out');
      await expect(signOut).rejects.toThrow('made to fail');
      expect((await service.post('/rest/auth/oauth/revoke', { token })).status).toBe(500);
    };
    await whileInsertsFail(service, 'audit_event', takeBack, 'at the commit');
    expect(heard).toEqual([]);
    expect((await service.fetch('/rest/me', { headers: { cookie } })).status).toBe(200);
    const headers = { authorization: `Bearer ${token}` };
    expect((await service.fetch('/rest/me', { headers })).status).toBe(200);
    for (const table of ['trust_revocation', 'ended_token'])
      expect(await service.rows(`SELECT 1 FROM token_exchange_${table}`)).toEqual([]);
  });

  it('afterwards the service works: the only connection of the embedded database is not stuck', async () => {
    expect((await service.embed({ token: partner.sign() })).status).toBe(303);
    expect((await service.exchange({ subject_token: partner.sign() })).status).toBe(200);
  });

  describe('[D29] a token that cannot be signed', () => {
    // Its next look at the table would mend what these tests break.
    beforeAll(() => service.part(SigningKeyService).beforeApplicationShutdown());

    it.each(['known', 'new'])(
      '[D3][6.2] of a %s user leaves no success in the trail, changes nothing, and is used up',
      async (kind) => {
        const token = () => partner.sign(partner.claims({ sub: `signing-${kind}` }));
        if (kind === 'known') await service.accessToken({ subject_token: token() });
        const users = await service.rows('SELECT * FROM user_account');
        const key = service.part(SigningKeyService).current();
        const { privateKey } = key;
        // A public key signs nothing.
        Object.assign(key, { privateKey: key.publicKey });
        const sent = token();
        const answer = await service.exchange({ subject_token: sent });
        Object.assign(key, { privateKey });
        expect(answer.status).toBe(500);
        expect(await eventsOf(service, answer)).toMatchObject([
          { name: 'svc.audit.token-exchange.failed', payload: { reason: 'internal_error' } },
        ]);
        expect(await service.rows('SELECT * FROM user_account')).toEqual(users);
        expect((await service.exchange({ subject_token: sent })).status).toBe(400);
      },
    );

    it('[D29] nothing is used up where there is no key to sign with', async () => {
      const signingKeys = service.part(SigningKeyService);
      const loaded: unknown = Reflect.get(signingKeys, 'keys');
      const subjectToken = partner.sign();
      Reflect.set(signingKeys, 'keys', []);
      expect((await service.exchange({ subject_token: subjectToken })).status).toBe(500);
      Reflect.set(signingKeys, 'keys', loaded);
      expect((await service.exchange({ subject_token: subjectToken })).status).toBe(200);
    });
  });
});
