// Which scopes and which audience an access token gets by the policy of the entries. Checked before a token is used up. The unit tests of
// grants have all cases.
import { decodeJwt } from 'jose';
import type { Issued } from '../support/answers.js';
import { eventsOf } from '../support/audit.js';
import { census } from '../support/census.js';
import { jsonOf } from '../support/answers.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { BASE_URL, TestService } from '../support/test-service.js';
import { TrustedPartner, expectUnchanged, newSub } from './support/trusted-partner.js';

const [ORDERS, STOCK, BILLS] = [
  'https://orders.example/',
  'https://stock.example/api',
  'https://bills.example/',
];

const open = new TrustedPartner();
const subjects = new TrustedPartner({ scopes: ['a', 'b'], resources: [ORDERS, STOCK] });
const actors = new TrustedPartner({ scopes: ['b', 'c'], resources: [STOCK, BILLS] });
const barred = new TrustedPartner({ scopes: [], resources: [] });

describeOnAnyDatabase('what an access token is granted', (database) => {
  const trustedKeys = [open, subjects, actors, barred].map(({ entry }) => entry);
  const service = TestService.forBlock(database, { trustedKeys });
  const tokenOf = (partner: TrustedPartner) => partner.token({ sub: newSub() });

  async function expectRefused(answer: Response, error: string, reason: string): Promise<void> {
    expect(answer.status).toBe(400);
    expect(await answer.json()).toEqual({ error, error_description: expect.stringMatching(/\w+ \w+/) });
    const name = 'svc.audit.token-exchange.failed';
    expect(await eventsOf(service, answer)).toMatchObject([{ name, payload: { reason } }]);
  }

  it.each([
    [
      'scope',
      'a ab',
      'invalid_scope',
      'scope_not_allowed',
      'a b c',
      { scope: 'b', requested_scope: 'a b c' },
    ],
    ['resource', BILLS, 'invalid_target', 'resource_not_allowed', STOCK, { aud: STOCK }],
  ])(
    '[P.scopes][P.resources] a %s that one of two entries does not list is refused, and with another both tokens are good',
    async (...[parameter, refused, error, reason, asked, granted]) => {
      const tokens = { subject_token: tokenOf(subjects), actor_token: tokenOf(actors) };
      const before = await census(service);
      await expectRefused(await service.exchange({ ...tokens, [parameter]: refused }), error, reason);
      await expectUnchanged(service, before, 0);
      const { access_token: token, scope } = await jsonOf<Issued>(
        await service.exchange({ ...tokens, [parameter]: asked }),
      );
      expect([scope, decodeJwt(token)]).toMatchObject(['b', granted]);
    },
  );

  it('[4.2.scope][4.2.resource] a token that would be too large is refused before anything is used up; the longest of ASCII is not', async () => {
    const subjectToken = tokenOf(open);
    const ask = (scope: string, resource: string) =>
      service.exchange({ subject_token: subjectToken, scope, resource });
    const before = await census(service);
    const large = await ask('é'.repeat(1_024), `https://a.example/${'😀'.repeat(2_000)}`);
    await expectRefused(large, 'invalid_request', 'access_token_too_large');
    await expectUnchanged(service, before, 0);
    const answer = await ask('s'.repeat(1_024), `https://a.example/${'r'.repeat(2_030)}`);
    const { access_token: accessToken } = await jsonOf<Issued>(answer);
    const headers = { authorization: `Bearer ${accessToken}` };
    expect([answer.status, (await service.fetch('/rest/me', { headers })).status]).toEqual([200, 200]);
  });

  it('[P.resources] a token for another service opens nothing here, and what the metadata name (D58) is none', async () => {
    const issuedFor = (resource: string) =>
      service.accessToken({ subject_token: tokenOf(subjects), resource });
    const token = await issuedFor('HTTPS://Orders.example:443');
    expect(decodeJwt(token)['aud']).toBe(ORDERS);
    const authorization = `Bearer ${token}`;
    for (const path of ['/rest/me', '/api/v1/workflows']) {
      expect((await service.fetch(path, { headers: { authorization } })).status).toBe(401);
    }
    expect(decodeJwt(await issuedFor(BASE_URL))['aud']).toBe(BASE_URL);
  });

  it('[P.scopes][P.resources] bind no embedded login', async () => {
    expect((await service.embed({ token: tokenOf(barred) })).status).toBe(303);
  });
});
