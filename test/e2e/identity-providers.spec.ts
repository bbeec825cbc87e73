// Tokens in the form of four identity providers: what docs/identity-providers.md says becomes of each.
import { randomUUID } from 'node:crypto';
import { requestIdOf } from '../support/audit.js';
import type { Members } from '../../demo/partner.js';
import { Partner } from '../../demo/partner.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { repositoryFile } from '../support/source-files.js';
import { BASE_URL, TestService } from '../support/test-service.js';

/** Of a token, what differs from one of a partner's backend. */
interface Form {
  readonly provider: string;
  readonly header: Members;
  readonly claims: Members;
  /** Why it is refused, in the trail; undefined where it is taken. */
  readonly reason?: string;
}

const KEYCLOAK = { typ: 'Bearer', azp: 'product', sid: randomUUID(), email_verified: true, acr: '1' };
const AUTH0 = { aud: [BASE_URL, 'https://tenant.auth0.example/userinfo'], scope: 'openid profile' };
const ENTRA = {
  jti: undefined,
  uti: 'qVYuIaRTpEOGaAYrIgcAAA',
  ver: '2.0',
  oid: randomUUID(),
  tid: randomUUID(),
};
const OKTA = { ver: 1, cid: 'product', uid: '00u1', scp: ['openid'] };

const FORMS: readonly Form[] = [
  { provider: 'Keycloak', header: { typ: 'JWT' }, claims: { ...KEYCLOAK, jti: `onrtac:${randomUUID()}` } },
  {
    provider: 'Auth0, default profile',
    header: { typ: 'JWT' },
    claims: { ...AUTH0, jti: undefined, azp: 'product' },
    reason: 'claims_invalid',
  },
  {
    provider: 'Auth0, RFC 9068 profile',
    header: { typ: 'at+jwt' },
    claims: { ...AUTH0, client_id: 'product' },
    reason: 'token_type_not_allowed',
  },
  { provider: 'Entra ID, v2.0', header: { typ: 'JWT' }, claims: ENTRA, reason: 'claims_invalid' },
  {
    provider: 'Okta, custom authorization server',
    header: { typ: undefined },
    claims: { ...OKTA, jti: 'AT.MNAoEQ_jbKqoinrQo1D0XKjMX28U5d7ZszBceot7-Ts' },
  },
  {
    provider: "Okta, the org's own server",
    header: { typ: 'application/okta-internal-at+jwt' },
    claims: OKTA,
    reason: 'token_type_not_allowed',
  },
];

describeOnAnyDatabase('tokens of identity providers', (database) => {
  const partner = Partner.create({ issuer: 'https://id.example', audience: BASE_URL, algorithm: 'RS256' });
  let service: TestService;
  beforeAll(
    async () => void (service = await TestService.start(database, { trustedKeys: [partner.staticEntry()] })),
  );
  afterAll(() => service?.stop());

  it.each(FORMS)('[2.2.6] $provider: an access token for an API', async ({ header, claims, reason }) => {
    const token = partner.sign(
      partner.claims({ ...claims, exp: Math.floor(Date.now() / 1000) + 300 }),
      header,
    );
    const answer = await service.exchange({ subject_token: token });
    expect([answer.status, reasonOf(service, answer)]).toEqual([reason === undefined ? 200 : 400, reason]);
  });

  it('are in the page with these outcomes', () => {
    const { text } = repositoryFile('docs/identity-providers.md');
    const rows = text.split('\n').filter((line) => /^\| (Keycloak|Auth0|Entra|Okta)/.test(line));
    const reasons = rows.map((row) => /`(claims_invalid|token_type_not_allowed)`/.exec(row)?.[1]);
    expect(reasons).toEqual(FORMS.map(({ reason }) => reason));
  });
});

function reasonOf(service: TestService, answer: Response): unknown {
  const requestId = requestIdOf(answer);
  const lines = service.log.filter((line) => line['requestId'] === requestId);
  const payloads = lines.map(({ payload }) => payload as { reason?: unknown } | undefined);
  return payloads.find((payload) => payload?.reason !== undefined)?.reason;
}
