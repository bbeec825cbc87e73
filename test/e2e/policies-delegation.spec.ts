// Who may act for whom by the policy of the entries, and with whose rights. Checked before a token is used up. The unit tests of grants have
// all cases.
import { decodeJwt } from 'jose';
import type { Members } from '../../demo/partner.js';
import { census } from '../support/census.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { outcomeOf } from '../support/entry-paths.js';
import { TestService } from '../support/test-service.js';
import { TrustedPartner, expectRefusal, expectUnchanged, newSub } from './support/trusted-partner.js';

const ACTOR = { flow: 'exchange', party: 'actor' } as const;

const customers = new TrustedPartner();
const strangers = new TrustedPartner();
const forCustomers = new TrustedPartner({ actFor: [customers.issuer] });
const cautious = new TrustedPartner({ rights: 'both' });

describeOnAnyDatabase('who acts for whom', (database) => {
  const trustedKeys = [customers, strangers, forCustomers, cautious].map(({ entry }) => entry);
  const service = TestService.forBlock(database, { trustedKeys });

  const exchange = (subjectToken: string, actorToken: string) =>
    service.exchange({ subject_token: subjectToken, actor_token: actorToken });
  const tokenOf = (partner: TrustedPartner, claims: Members = {}) =>
    partner.token({ sub: newSub(), ...claims });

  it('[P.actFor] an actor acts for subjects of the issuers that its entry lists, and a refusal costs no token', async () => {
    const [subjectToken, actorToken] = [tokenOf(strangers), tokenOf(forCustomers)];
    const before = await census(service);
    await expectRefusal(service, await exchange(subjectToken, actorToken), ACTOR, 'act_for_not_allowed');
    await expectUnchanged(service, before, 0);
    expect(outcomeOf(await service.exchange({ subject_token: subjectToken }))).toBe('accepted');
    expect(outcomeOf(await exchange(tokenOf(customers), actorToken))).toBe('accepted');
    expect(outcomeOf(await exchange(tokenOf(strangers), tokenOf(customers)))).toBe('accepted');
  });

  it('[P.mayAct][P.actFor] a subject’s may_act binds an actor whose entry lists the issuer, and widens no list', async () => {
    const mayAct = { may_act: { sub: 'robot', iss: forCustomers.issuer } };
    const robot = () => tokenOf(forCustomers, { sub: 'robot' });
    const subjectToken = tokenOf(customers, mayAct);
    const byStranger = await exchange(subjectToken, tokenOf(forCustomers));
    await expectRefusal(service, byStranger, ACTOR, 'actor_not_allowed');
    expect(outcomeOf(await exchange(subjectToken, robot()))).toBe('accepted');
    const ofStrangers = await exchange(tokenOf(strangers, mayAct), robot());
    await expectRefusal(service, ofStrangers, ACTOR, 'act_for_not_allowed');
  });

  it.each([
    ['a subject', cautious, customers, 'both'],
    ['an actor', customers, cautious, 'both'],
    ['nobody', customers, strangers, undefined],
    ['a subject without an actor', cautious, undefined, undefined],
  ])('[P.rights] where the entry of %s asks for the rights of both', async (_, subject, actor, rights) => {
    const fields = { subject_token: tokenOf(subject), actor_token: actor && tokenOf(actor) };
    const claims = decodeJwt(await service.accessToken(fields));
    expect(claims['delegated_rights']).toBe(rights);
  });
});
