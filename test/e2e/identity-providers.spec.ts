// Access tokens with the documented claims of five identity providers, and the entries that docs/partner/providers.md has for them.
import { randomUUID } from 'node:crypto';
import type { Members } from '../../demo/partner.js';
import { Partner } from '../../demo/partner.js';
import { reasonOf } from '../support/audit.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { linkedUser } from '../support/local-users.js';
import { repositoryFile } from '../support/source-files.js';
import { TestService } from '../support/test-service.js';

const INSTANCE = 'https://instance.example';

/** The entry of the page by its name, with its key set replaced by the key of a partner. */
const ENTRIES = new Map(
  [...repositoryFile('docs/partner/providers.md').text.matchAll(/```json\n(.*?)```/gs)].map(([, json]) => {
    const { url, ...entry } = JSON.parse(json!) as Members & { name: string; issuer: string };
    const partner = Partner.create({ issuer: entry.issuer, algorithm: 'RS256' });
    const { kid, algorithms, key } = partner.staticEntry();
    return [entry.name, { partner, url, entry: { ...entry, type: 'static', kid, algorithms, key } }] as const;
  }),
);

interface Shape {
  readonly entry: string;
  readonly header: Members;
  /** Beside `iss`, `iat` and `exp`. */
  readonly claims: Members;
}

const nobody = { given_name: undefined, family_name: undefined, jti: undefined };
const person = (name: string) => ({ ...nobody, sub: randomUUID(), email: `${name}@partner.example` });

const SHAPES: readonly Shape[] = [
  {
    entry: 'keycloak',
    header: { typ: 'JWT' },
    claims: {
      ...person('keycloak'),
      ...{
        jti: `onrtac:${randomUUID()}`,
        aud: [INSTANCE, 'account'],
        typ: 'Bearer',
        azp: 'product',
        acr: '1',
      },
      ...{ sid: randomUUID(), 'allowed-origins': ['https://product.example'], scope: 'openid email profile' },
      realm_access: { roles: ['default-roles-customers', 'offline_access'] },
      resource_access: { account: { roles: ['manage-account', 'view-profile'] } },
      roles: ['default-roles-customers', 'offline_access', 'instance-user', 'instance-admin'],
      ...{ email_verified: true, preferred_username: 'robin', name: 'Robin Castell' },
    },
  },
  {
    entry: 'auth0',
    header: { typ: 'at+jwt' },
    claims: {
      ...person('auth0'),
      ...{ sub: 'auth0|6553da60a54af58e29493993', aud: [INSTANCE, 'https://partner.eu.auth0.com/userinfo'] },
      ...{ jti: '73WakrfVbNJBaAmhQtEeDv', client_id: 'K1AUPhZq8mRi0Q0pjhkfu1D7y6KjDQja' },
      ...{ scope: 'openid profile email', email_verified: true, 'https://partner.example/roles': ['Admin'] },
    },
  },
  {
    entry: 'entra',
    header: { typ: 'JWT' },
    claims: {
      ...person('entra'),
      aud: '0d1c2b3a-4f5e-4678-9abc-def012345678',
      ...{ uti: 'qVYuIaRTpEOGaAYrIgcAAA', ver: '2.0', oid: randomUUID(), tid: randomUUID() },
      ...{ azp: randomUUID(), azpacr: '1', scp: 'access_as_user', rh: '0.AAAA', aio: 'AXQAi/8IAAAA' },
      ...{ roles: ['Instance.Admin'], xms_edov: true, given_name: 'Robin', family_name: 'Castell' },
    },
  },
  {
    entry: 'okta',
    header: { typ: undefined },
    claims: {
      ...person('okta'),
      ...{ sub: 'robin@partner.example', aud: INSTANCE, ver: 1, cid: '0oa1', uid: '00u1', scp: ['openid'] },
      ...{ jti: 'AT.MNAoEQ_jbKqoinrQo1D0XKjMX28U5d7ZszBceot7-Ts', auth_time: 1_688_145_909 },
      ...{ groups: ['Everyone', 'Instance Admins'], email_verified: true },
    },
  },
  {
    entry: 'cognito',
    header: { typ: undefined },
    claims: {
      ...person('cognito'),
      ...{ aud: INSTANCE, client_id: '1h57kf5cpq17m0eml12EXAMPLE', username: 'robin', version: 2 },
      ...{ jti: randomUUID(), origin_jti: randomUUID(), event_id: randomUUID(), token_use: 'access' },
      ...{ auth_time: 1_676_312_777, scope: 'openid email', 'cognito:groups': ['users', 'admins'] },
      email_verified: 'true',
    },
  },
];

describeOnAnyDatabase('access tokens of identity providers', (database) => {
  const service = TestService.forBlock(database, {
    trustedKeys: [...ENTRIES.values()].map(({ entry }) => entry),
    environment: { SVC_TOKEN_EXCHANGE_STRICT: 'true' },
  });
  const sign = ({ entry, header, claims }: Shape, changes: Members = {}) => {
    const { partner } = ENTRIES.get(entry)!;
    const exp = Math.floor(Date.now() / 1000) + 300;
    return partner.sign(partner.claims({ exp, ...claims, ...changes }), header);
  };
  const shapeOf = (name: string) => SHAPES.find(({ entry }) => entry === name)!;
  const outcomeOf = async (subject: string) => {
    const answer = await service.exchange({ subject_token: subject });
    return answer.status === 200 ? 'accepted' : reasonOf(service, answer);
  };

  it('[P.roleMap] the page has an entry for each of them', () => {
    expect([...ENTRIES.keys()]).toEqual(['keycloak', 'auth0', 'entra', 'okta', 'cognito']);
  });

  it.each(SHAPES)(
    '[P.roleClaim][P.roleMap][P.uniqueId][5.2.5] $entry: its token is accepted once, as an administrator',
    async (shape) => {
      const token = sign(shape);
      expect(await outcomeOf(token)).toBe('accepted');
      expect(await outcomeOf(token)).toBe('token_replayed');
      const { issuer } = ENTRIES.get(shape.entry)!.partner;
      const user = await linkedUser(service, issuer, String(shape.claims['sub']));
      expect([user?.email, user?.role]).toEqual([`${shape.entry}@partner.example`, 'global:admin']);
    },
  );

  it('[P.typ] an entry for access tokens by RFC 9068 refuses an ID token of the provider', async () => {
    const shape = shapeOf('auth0');
    const token = sign({ ...shape, header: { typ: 'JWT' } }, { jti: randomUUID() });
    expect(await outcomeOf(token)).toBe('token_type_not_allowed');
  });

  it('[2.2.3] a token of Cognito without a resource has no audience, and is refused', async () => {
    expect(await outcomeOf(sign(shapeOf('cognito'), { jti: randomUUID(), aud: undefined }))).toBe(
      'claims_invalid',
    );
  });
});
