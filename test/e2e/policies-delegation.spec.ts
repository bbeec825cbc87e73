// Who may act for whom by the policy of the entries, and with whose rights. Checked before a token is used up.
import type { Members } from '../../demo/partner.js';
import { census } from '../support/census.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { outcomeOf } from '../support/entry-paths.js';
import { TestService } from '../support/test-service.js';
import { claimsOfAccessToken } from './support/issued-token.js';
import { TrustedPartner, expectRefusal, expectUnchanged, newSub } from './support/trusted-partner.js';

const ACTOR = { flow: 'exchange', party: 'actor' } as const;

const customers = new TrustedPartner();
const strangers = new TrustedPartner();
const forCustomers = new TrustedPartner({ actFor: [customers.issuer] });
const forBoth = new TrustedPartner({ actFor: [customers.issuer, strangers.issuer] });
const forNobody = new TrustedPartner({ actFor: [] });
const forAnybody = new TrustedPartner();
const NAMES = new Map([
  [customers, 'customers'],
  [strangers, 'strangers'],
  [forCustomers, 'for customers'],
  [forBoth, 'for both'],
  [forNobody, 'for nobody'],
  [forAnybody, 'for anybody'],
]);

const RIGHTS = [undefined, 'actor', 'both'] as const;
const byRights = new Map(RIGHTS.map((rights) => [rights, new TrustedPartner({ rights })]));

describeOnAnyDatabase('who acts for whom', (database) => {
  const trustedKeys = [...NAMES.keys(), ...byRights.values()].map(({ entry }) => entry);
  const service = TestService.forBlock(database, { trustedKeys });

  const exchange = (subjectToken: string, actorToken: string) =>
    service.exchange({ subject_token: subjectToken, actor_token: actorToken });
  const tokenOf = (partner: TrustedPartner, claims: Members = {}) =>
    partner.token({ sub: newSub(), ...claims });

  it.each(
    [
      [forCustomers, customers],
      [forBoth, customers],
      [forBoth, strangers],
      [forAnybody, customers],
      [forAnybody, strangers],
      [forAnybody, forAnybody],
      [forAnybody, forNobody],
    ].map(([actor, subject]) => ({ actor, subject, who: NAMES.get(actor!), whom: NAMES.get(subject!) })),
  )('[P.actFor] an actor $who acts for a subject of $whom', async ({ actor, subject }) => {
    expect(outcomeOf(await exchange(tokenOf(subject!), tokenOf(actor!)))).toBe('accepted');
  });

  it.each(
    [
      [forCustomers, strangers],
      [forCustomers, forCustomers],
      [forNobody, customers],
      [forNobody, forNobody],
    ].map(([actor, subject]) => ({ actor, subject, who: NAMES.get(actor!), whom: NAMES.get(subject!) })),
  )('[P.actFor] an actor $who does not act for a subject of $whom', async ({ actor, subject }) => {
    const [subjectToken, actorToken] = [tokenOf(subject!), tokenOf(actor!)];
    const before = await census(service);
    await expectRefusal(service, await exchange(subjectToken, actorToken), ACTOR, 'act_for_not_allowed');
    await expectUnchanged(service, before, 0);
    // Each is as good as before, by itself.
    expect(outcomeOf(await service.exchange({ subject_token: subjectToken }))).toBe('accepted');
    expect(outcomeOf(await service.embed({ token: actorToken }))).toBe('accepted');
  });

  it('[P.actFor] the actor who was refused acts for a subject of a listed issuer, by the same token', async () => {
    const actorToken = tokenOf(forCustomers);
    expect(outcomeOf(await exchange(tokenOf(strangers), actorToken))).toBe('refused with 400');
    expect(outcomeOf(await exchange(tokenOf(customers), actorToken))).toBe('accepted');
  });

  it('[P.mayAct] a subject’s may_act binds an actor whose entry lists the issuer', async () => {
    const subjectToken = tokenOf(customers, { may_act: { sub: 'robot', iss: forCustomers.issuer } });
    const stranger = tokenOf(forCustomers);
    await expectRefusal(service, await exchange(subjectToken, stranger), ACTOR, 'actor_not_allowed');
    const robot = tokenOf(forCustomers, { sub: 'robot' });
    expect(outcomeOf(await exchange(subjectToken, robot))).toBe('accepted');
  });

  it('[P.actFor] a subject’s may_act does not widen the list of the actor’s entry', async () => {
    const subjectToken = tokenOf(strangers, { may_act: { sub: 'robot', iss: forCustomers.issuer } });
    const robot = tokenOf(forCustomers, { sub: 'robot' });
    await expectRefusal(service, await exchange(subjectToken, robot), ACTOR, 'act_for_not_allowed');
  });

  describe.each(RIGHTS)('[P.rights] a subject whose entry says %s', (ofSubject) => {
    it.each(RIGHTS)('[P.rights] and an actor whose entry says %s: the stricter', async (ofActor) => {
      const fields = {
        subject_token: tokenOf(byRights.get(ofSubject)!),
        actor_token: tokenOf(byRights.get(ofActor)!),
      };
      const claims = claimsOfAccessToken(await service.accessToken(fields));
      const isStrict = [ofSubject, ofActor].includes('both');
      expect(claims['delegated_rights']).toBe(isStrict ? 'both' : undefined);
      expect(claims['act']).toMatchObject({ sub: expect.any(String) });
    });

    it('[P.rights] alone has no actor to share rights with', async () => {
      const subjectToken = tokenOf(byRights.get(ofSubject)!);
      const claims = claimsOfAccessToken(await service.accessToken({ subject_token: subjectToken }));
      expect(claims).not.toHaveProperty('delegated_rights');
    });
  });
});
