// The strict policy: the defaults of an entry, its required properties, and the properties that override the defaults.
import type { Members } from '../../demo/partner.js';
import { jsonOf } from '../support/answers.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { ENTRY_PATHS, EMBED_PATH, outcomeOf } from '../support/entry-paths.js';
import type { EntryPath } from '../support/entry-paths.js';
import { changeUser, createUser, linkUser } from '../support/local-users.js';
import { TestService } from '../support/test-service.js';
import { TrustedPartner, expectRefusal, newSub } from './support/trusted-partner.js';

const [embedGet, embedPost] = ENTRY_PATHS as [EntryPath, EntryPath, EntryPath, EntryPath];
const MEMBER = 'global:member';
const ADMIN = 'global:admin';
const LEAST = { allowedRoles: [MEMBER], origins: ['https://product.example'], emailDomains: ['*'] };
const VERIFIED = { email_verified: true };

/** A partner with only the required properties, and partners with properties that most entries need. */
const silent = new TrustedPartner(LEAST);
const scoped = new TrustedPartner({ ...LEAST, scopes: ['a', 'b'] });
const weak = new TrustedPartner({
  ...LEAST,
  requireVerifiedEmail: false,
  linkExistingUsers: true,
  linkPrivileged: true,
  roleCeiling: false,
  excludeOwner: false,
  rights: 'actor',
  actFor: [scoped.issuer],
  scopes: ['a'],
});

describeOnAnyDatabase('strict', (database) => {
  const service = TestService.forBlock(database, {
    trustedKeys: [silent, scoped, weak].map(({ entry }) => entry),
    environment: { SVC_TOKEN_EXCHANGE_STRICT: 'true' },
  });

  const noCompanion = () => '';
  const login = (partner: TrustedPartner, claims: Members = {}) =>
    embedPost.send(service, partner.token({ sub: newSub(), ...claims }), noCompanion);

  it('[P.strict][P.requireVerifiedEmail] an e-mail of which the issuer says nothing makes no user', async () => {
    await expectRefusal(service, await login(silent), embedPost, 'email_not_verified');
    expect(outcomeOf(await login(silent, VERIFIED))).toBe('accepted');
    expect(outcomeOf(await login(weak))).toBe('accepted');
  });

  it.each([
    [ADMIN, 'stored_role_not_allowed'],
    ['global:owner', 'owner_excluded'],
  ] as const)('[P.strict][P.roleCeiling][P.excludeOwner] keeps a known %s out', async (role, reason) => {
    const sub = newSub();
    const id = await createUser(service, { email: silent.emailOf(sub), role });
    for (const { issuer } of [silent, weak]) await linkUser(service, issuer, sub, id);
    await expectRefusal(service, await login(silent, { sub }), embedPost, reason);
    expect(outcomeOf(await login(weak, { sub }))).toBe('accepted');
    if (role === ADMIN) await changeUser(service, id, { role: MEMBER });
    else return;
    expect(outcomeOf(await login(silent, { sub }))).toBe('accepted');
  });

  it('[P.strict] a login by GET is no method of the endpoint, and leaves the token unused', async () => {
    const token = silent.token({ sub: newSub(), ...VERIFIED });
    const answer = await embedGet.send(service, token, noCompanion);
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
    expect(answer.headers.get('set-cookie')).toBeNull();
    for (const method of ['HEAD', 'PUT']) {
      const other = await service.fetch(EMBED_PATH, { method });
      expect([method, other.status, other.headers.get('allow')]).toEqual([method, 405, 'POST']);
    }
    const described = await jsonOf<{ paths: Record<string, object> }>(
      await service.fetch('/api/v1/openapi.json'),
    );
    expect(Object.keys(described.paths[EMBED_PATH] ?? {})).toEqual(['post']);
    expect(outcomeOf(await embedPost.send(service, token, noCompanion))).toBe('accepted');
  });
});
