// Which scopes and which audience an access token gets by the policy of the entries. Checked before a token is used up.
import { census, eventsOf } from '../support/census.js';
import { jsonOf } from '../support/answers.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { BASE_URL, TestService } from '../support/test-service.js';
import type { Issued } from './support/issued-token.js';
import { claimsOfAccessToken } from './support/issued-token.js';
import { TrustedPartner, expectUnchanged, newSub } from './support/trusted-partner.js';

const [ORDERS, STOCK, BILLS] = [
  'https://orders.example/',
  'https://stock.example/api',
  'https://bills.example/',
];

/** What the entries of subject and actor list; undefined: they say nothing, null: there is no actor. */
type List = readonly string[] | undefined;
interface GrantCase {
  readonly title: string;
  readonly subject: List;
  readonly actor: List | null;
  readonly asked: string | undefined;
  /** Undefined: refused. */
  readonly granted: readonly string[] | undefined;
}

const grantCase = (
  subject: List,
  actor: List | null,
  asked: string | undefined,
  granted: readonly string[] | undefined,
): GrantCase => ({
  title: `${shown(subject)} and ${actor === null ? 'no actor' : shown(actor)}, asked for ${asked ?? 'nothing'}`,
  subject,
  actor,
  asked,
  granted,
});
const shown = (list: List) => (list === undefined ? 'no list' : `[${list.join(' ')}]`);

/** One of each kind. The unit tests of grants have all of them. */
const SCOPES: readonly GrantCase[] = [
  grantCase(['a', 'b'], null, 'a c', ['a']),
  grantCase(['a', 'b'], null, 'ab', undefined),
  grantCase([], null, undefined, undefined),
  grantCase(['a', 'b'], ['b', 'c'], 'a b c', ['b']),
];

const RESOURCES: readonly GrantCase[] = [
  grantCase([ORDERS, STOCK], null, ORDERS, [ORDERS]),
  grantCase([ORDERS, STOCK], null, BILLS, undefined),
  grantCase([], null, ORDERS, undefined),
  // What the metadata name as the resource (D58) is what a token is for anyway.
  grantCase([ORDERS], null, BASE_URL, [BASE_URL]),
  grantCase([ORDERS, STOCK], [STOCK, BILLS], STOCK, [STOCK]),
];

describeOnAnyDatabase('what an access token is granted', (database) => {
  let service: TestService;
  const partners = new Map<string, TrustedPartner>();

  const partnerWith = (field: 'scopes' | 'resources', list: List) => {
    const key = `${field} ${shown(list)}`;
    const partner = partners.get(key) ?? new TrustedPartner({ [field]: list });
    partners.set(key, partner);
    return partner;
  };

  beforeAll(async () => {
    for (const { subject, actor } of SCOPES)
      for (const list of [subject, actor ?? undefined]) partnerWith('scopes', list);
    for (const { subject, actor } of RESOURCES)
      for (const list of [subject, actor ?? undefined]) partnerWith('resources', list);
    const trustedKeys = [...partners.values()].map(({ entry }) => entry);
    service = await TestService.start(database, { trustedKeys });
  });
  afterAll(() => service?.stop());

  const tokensOf = (field: 'scopes' | 'resources', { subject, actor }: GrantCase) => ({
    subject_token: partnerWith(field, subject).token({ sub: newSub() }),
    actor_token: actor === null ? undefined : partnerWith(field, actor).token({ sub: newSub() }),
  });

  async function expectRefused(answer: Response, error: string, reason: string): Promise<void> {
    expect(answer.status).toBe(400);
    expect(await answer.json()).toEqual({ error, error_description: expect.stringMatching(/\w+ \w+/) });
    const name = 'svc.audit.token-exchange.failed';
    expect(await eventsOf(service, answer)).toMatchObject([{ name, payload: { reason } }]);
  }

  it.each(SCOPES)('[P.scopes] $title', async (one) => {
    const tokens = tokensOf('scopes', one);
    const before = await census(service);
    const answer = await service.exchange({ ...tokens, scope: one.asked });
    if (one.granted === undefined) {
      await expectRefused(answer, 'invalid_scope', 'scope_not_allowed');
      await expectUnchanged(service, before, 0);
      return;
    }
    expect(answer.status).toBe(200);
    const { access_token: accessToken, scope } = await jsonOf<Issued>(answer);
    expect(scope?.split(' ').toSorted()).toEqual(one.granted);
    const claims = claimsOfAccessToken(accessToken);
    expect([claims['scope'], claims['requested_scope']]).toEqual([scope, one.asked]);
  });

  it.each(RESOURCES)('[P.resources] $title', async (one) => {
    const tokens = tokensOf('resources', one);
    const before = await census(service);
    const answer = await service.exchange({ ...tokens, resource: one.asked });
    if (one.granted === undefined) {
      await expectRefused(answer, 'invalid_target', 'resource_not_allowed');
      await expectUnchanged(service, before, 0);
      return;
    }
    expect(answer.status).toBe(200);
    const { access_token: accessToken } = await jsonOf<Issued>(answer);
    expect([claimsOfAccessToken(accessToken)['aud']].flat()).toEqual(one.granted);
  });

  it.each([
    ['scopes', 'scope', ['a', 'b'], 'c', 'a'],
    ['resources', 'resource', [ORDERS, STOCK], BILLS, ORDERS],
  ] as const)('[P.scopes][P.resources] after a refusal by %s both tokens are good', async (...row) => {
    const [field, parameter, list, refused, granted] = row;
    const pair = { title: '', subject: list, actor: list, asked: undefined, granted: undefined };
    const tokens = tokensOf(field, pair);
    expect((await service.exchange({ ...tokens, [parameter]: refused })).status).toBe(400);
    expect((await service.exchange({ ...tokens, [parameter]: granted })).status).toBe(200);
  });

  it('[4.2.scope][4.2.resource] a token that would be too large is refused before anything is used up; the longest of ASCII is not', async () => {
    const subjectToken = partnerWith('scopes', undefined).token({ sub: newSub() });
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

  it('[P.resources] two listed resources in two fields are refused', async () => {
    const { subject_token: token } = tokensOf('resources', RESOURCES[0]!);
    const form = new URLSearchParams({ grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange' });
    form.append('subject_token', token);
    form.append('resource', ORDERS);
    form.append('resource', STOCK);
    const answer = await service.fetch('/rest/auth/oauth/token', { method: 'POST', body: form });
    await expectRefused(answer, 'invalid_target', 'resource_not_allowed');
  });

  it('[D53][P.resources] without a list nothing is checked', async () => {
    const resource = `${ORDERS} orders`;
    const token = partnerWith('resources', undefined).token({ sub: newSub() });
    const claims = claimsOfAccessToken(await service.accessToken({ subject_token: token, resource }));
    expect([claims['aud']].flat()).toEqual([BASE_URL]);
    expect([claims['requested_resource']].flat().join(' ')).toBe(resource);
  });

  it('[P.resources] a token for another service opens nothing here', async () => {
    const token = partnerWith('resources', [ORDERS, STOCK]).token({ sub: newSub() });
    const authorization = `Bearer ${await service.accessToken({ subject_token: token, resource: ORDERS })}`;
    for (const path of ['/rest/me', '/api/v1/workflows']) {
      expect((await service.fetch(path, { headers: { authorization } })).status).toBe(401);
    }
  });

  it('[P.scopes][P.resources] bind no embedded login', async () => {
    for (const field of ['scopes', 'resources'] as const) {
      const token = partnerWith(field, []).token({ sub: newSub() });
      expect((await service.embed({ token })).status).toBe(303);
    }
  });
});
