// Linking an owner or administrator by e-mail is told by an event of its own and a warning of the log.
import { eventsOf } from '../support/audit.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { signedIn } from '../support/entry-paths.js';
import { createUser } from '../support/local-users.js';
import { TestService } from '../support/test-service.js';
import { TrustedPartner, WAYS, newSub } from './support/trusted-partner.js';

const PRIVILEGED_LINKED = 'svc.audit.token-exchange.privileged-identity-linked';

const partner = new TrustedPartner();
const other = new TrustedPartner();

describeOnEachDatabase('an identity that is linked to a user with rights', (database) => {
  const service = TestService.forBlock(database, { trustedKeys: [partner.entry, other.entry] });
  const emails = new Map<string, string>();
  const ids = new Map<string, string>();

  beforeAll(async () => {
    for (const role of ['global:owner', 'global:admin', 'global:member'] as const) {
      const email = `${role.slice('global:'.length)}@instance.example`;
      emails.set(role, email);
      ids.set(role, await createUser(service, { email, role }));
    }
  });
  const warningsSince = (lines: number) =>
    service.log.slice(lines).filter(({ level, userId }) => level === 'warn' && userId !== undefined);

  describe.each(WAYS)('by $name', (way) => {
    it.each(['global:owner', 'global:admin'])('[D54] %s: reported once', async (role) => {
      const claims = { sub: newSub(), email: emails.get(role) };
      const companion = () => other.token({ sub: 'companion' });
      const lines = service.log.length;
      const answer = await way.send(service, partner.token(claims), companion);
      await signedIn(service, answer);
      const userId = ids.get(role);
      const told = (await eventsOf(service, answer)).filter(({ name }) => name === PRIVILEGED_LINKED);
      expect(told).toMatchObject([{ payload: { issuer: partner.issuer, userId, role } }]);
      expect(warningsSince(lines)).toMatchObject([{ userId }]);
      expect(JSON.stringify(warningsSince(lines))).not.toContain('@');

      // From now on the identity is known.
      const linesThen = service.log.length;
      const again = await way.send(service, partner.token(claims), companion);
      expect((await eventsOf(service, again)).map(({ name }) => name)).not.toContain(PRIVILEGED_LINKED);
      expect(warningsSince(linesThen)).toEqual([]);
    });

    it('[D54] a member: not reported', async () => {
      const lines = service.log.length;
      const token = partner.token({ sub: newSub(), email: emails.get('global:member') });
      const answer = await way.send(service, token, () => other.token({ sub: 'companion' }));
      const names = (await eventsOf(service, answer)).map(({ name }) => name);
      expect(names).toContain('svc.audit.token-exchange.identity-linked');
      expect(names).not.toContain(PRIVILEGED_LINKED);
      expect(warningsSince(lines)).toEqual([]);
    });
  });
});
