// Three ways to somebody else's rights: open where the contract has them so, closed under strict.
import { describeOnEachDatabase } from '../support/databases.js';
import { credentialOf, outcomeOf, signedIn } from '../support/entry-paths.js';
import { createUser, linkedUser, storedUser } from '../support/local-users.js';
import type { TestService } from '../support/test-service.js';
import { withService } from '../support/with-service.js';
import { WAYS, link } from './support/admission.js';
import { claimsOfAccessToken } from './support/issued-token.js';
import { TrustedPartner, expectRefusal, newSub } from './support/trusted-partner.js';

const MEMBER = 'global:member';
/** What strict asks every entry for. */
const LEAST = { allowedRoles: [MEMBER], origins: ['https://product.example'], emailDomains: ['*'] };
const SCOPES = { scopes: ['workflow:read'] };

describeOnEachDatabase('stories of another user’s rights', (database) => {
  const onService = (
    isStrict: boolean,
    entries: readonly object[],
    work: (service: TestService) => Promise<void>,
  ) =>
    withService(
      database,
      { trustedKeys: entries, environment: { SVC_TOKEN_EXCHANGE_STRICT: String(isStrict) } },
      work,
    );
  let ownerId: string;

  beforeAll(() =>
    onService(false, [], async (service) => {
      ownerId = await createUser(service, { email: 'owner@instance.example', role: 'global:owner' });
    }),
  );

  const renamed = async (service: TestService) => (await storedUser(service, ownerId)).givenName;

  /** Somebody whom the partner's key alone vouches for, with nothing of the owner's but the e-mail address. */
  const takeover = (partner: TrustedPartner, name: string) =>
    partner.token({ sub: newSub(), email: 'owner@instance.example', given_name: name, email_verified: true });

  it('[D54] by default an issuer of members takes the owner over by e-mail', async () => {
    const partner = new TrustedPartner({ allowedRoles: [MEMBER] });
    const companion = new TrustedPartner();
    await onService(false, [partner.entry, companion.entry], async (service) => {
      for (const way of WAYS) {
        const name = `Taken ${newSub()}`;
        const answer = await way.send(service, takeover(partner, name), () =>
          companion.token({ sub: 'somebody' }),
        );
        const me = await signedIn(service, answer.clone());
        expect([me.user.id, me.onBehalfOf?.id]).toContain(ownerId);
        expect(await renamed(service)).toBe(name);
        if (me.user.id !== ownerId) continue;
        const asOwner = { headers: await credentialOf(answer) };
        expect((await service.fetch('/api/v1/users', asOwner)).status).toBe(200);
      }
    });
  });

  it.each([
    ['says nothing', {}, 'linking_not_allowed'],
    ['lists the owner’s domain', { emailDomains: ['instance.example'] }, 'privileged_linking_not_allowed'],
    ['links privileged users', { linkExistingUsers: true, linkPrivileged: true }, 'owner_excluded'],
    [
      'links privileged users, the owner too',
      { linkExistingUsers: true, linkPrivileged: true, excludeOwner: false },
      'stored_role_not_allowed',
    ],
  ])('[P.strict][D54] under strict none does, where the entry %s', async (_, policy, reason) => {
    const companion = new TrustedPartner();
    const partner = new TrustedPartner({ ...LEAST, ...SCOPES, actFor: [companion.issuer], ...policy });
    const besideIt = companion.entryWith({ ...LEAST, ...SCOPES, actFor: [partner.issuer] });
    await onService(true, [partner.entry, besideIt], async (service) => {
      for (const way of WAYS) {
        const before = await storedUser(service, ownerId);
        const token = takeover(partner, 'Taken under strict');
        const beside = () => companion.token({ sub: newSub(), email_verified: true });
        const answer = await way.send(service, token, beside);
        await expectRefusal(service, answer, way, reason);
        expect(await storedUser(service, ownerId)).toEqual(before);
      }
    });
  });

  /** The owner is known to the actor's issuer; the subject is whoever it is. */
  it('[P.actFor] by default any actor acts for any subject, with the actor’s rights', async () => {
    const [robots, customers] = [new TrustedPartner(), new TrustedPartner()];
    await onService(false, [robots.entry, customers.entry], async (service) => {
      const robot = newSub();
      await link(service, robots.issuer, robot, ownerId);
      const fields = {
        subject_token: customers.token({ sub: newSub() }),
        actor_token: robots.token({ sub: robot }),
      };
      const accessToken = await service.accessToken(fields);
      expect(claimsOfAccessToken(accessToken)).not.toHaveProperty('delegated_rights');
      const headers = { authorization: `Bearer ${accessToken}` };
      expect((await service.fetch('/api/v1/users', { headers })).status).toBe(200);
    });
  });

  it('[P.strict][P.actFor][P.rights] under strict for none, and with the rights of both for whom the entry lists', async () => {
    const customers = new TrustedPartner({ ...LEAST, ...SCOPES });
    const silent = new TrustedPartner({ ...LEAST, ...SCOPES });
    const listing = new TrustedPartner({ ...LEAST, ...SCOPES, actFor: [customers.issuer] });
    await onService(
      true,
      [customers, silent, listing].map(({ entry }) => entry),
      async (service) => {
        const subject = () => customers.token({ sub: newSub(), email_verified: true });
        const tried = (actors: TrustedPartner) =>
          service.exchange({
            subject_token: subject(),
            actor_token: actors.token({ sub: newSub(), email_verified: true }),
          });
        const party = { flow: 'exchange', party: 'actor' } as const;
        await expectRefusal(service, await tried(silent), party, 'act_for_not_allowed');
        const { authorization = '' } = await credentialOf(await tried(listing));
        expect(claimsOfAccessToken(authorization.slice('Bearer '.length))).toMatchObject({
          delegated_rights: 'both',
        });
      },
    );
  });

  it.each([false, true])(
    '[P.priorActors] an act that names the owner gives nobody the owner’s rights (strict: %s)',
    async (isStrict) => {
      const policy = { ...LEAST, ...SCOPES };
      const customers = new TrustedPartner(isStrict ? policy : {});
      const robots = new TrustedPartner(isStrict ? { ...policy, actFor: [customers.issuer] } : {});
      await onService(isStrict, [customers.entry, robots.entry], async (service) => {
        const claims = { email_verified: true, act: { sub: ownerId, iss: customers.issuer } };
        for (const actor of [undefined, robots]) {
          const sub = newSub();
          const answer = await service.exchange({
            subject_token: customers.token({ sub, ...claims }),
            actor_token: actor?.token({ sub: newSub(), ...claims }),
          });
          expect(outcomeOf(answer)).toBe('accepted');
          const headers = await credentialOf(answer.clone());
          expect((await service.fetch('/api/v1/users', { headers })).status).toBe(403);
          const me = await signedIn(service, answer.clone());
          expect([me.user.id, me.onBehalfOf?.id]).not.toContain(ownerId);
          expect(me.user.role).toBe(MEMBER);
          expect(await linkedUser(service, customers.issuer, sub)).not.toMatchObject({ id: ownerId });
        }
      });
    },
  );
});
