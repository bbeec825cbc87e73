// A chain of actors in an external token is a record of who has acted before, and never gives anybody's rights.
import { decodeJwt } from 'jose';
import type { Members } from '../../demo/partner.js';
import { eventsOf } from '../support/audit.js';
import { census } from '../support/census.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { INVALID_CLAIMS, credentialOf, signedIn } from '../support/entry-paths.js';
import { createUser, linkedUser } from '../support/local-users.js';
import { BASE_URL, TestService } from '../support/test-service.js';
import { TrustedPartner, WAYS, expectUnchanged, newSub } from './support/trusted-partner.js';

const partner = new TrustedPartner();
const other = new TrustedPartner();
const ELSEWHERE = 'https://elsewhere.example';

/** So many parties, the latest outermost. */
function chainOf(length: number): Members {
  const inner = length > 1 ? { act: chainOf(length - 1) } : {};
  return { sub: `party-${length}`, iss: ELSEWHERE, ...inner };
}

/** One of each kind. The unit tests of external claims have all of them. */
const WRONG: [rule: string, what: string, act: unknown][] = [
  ['P.priorActors', 'a mistyped party at the fifth place', deepest({ sub: 7 })],
  // For whom this instance would answer.
  ['D126', 'a party of this instance at the fifth place', deepest({ sub: 'party', iss: BASE_URL })],
];

function deepest(innermost: Members, outer = 4): Members {
  return outer === 0 ? innermost : { sub: `party-${outer}`, act: deepest(innermost, outer - 1) };
}

describeOnAnyDatabase('two identities of one user', (database) => {
  const bounded = new TrustedPartner({ roleCeiling: true, allowedRoles: ['global:member'] });
  const service = TestService.forBlock(database, { trustedKeys: [partner.entry, bounded.entry] });

  it('[D7] the second is decided on what the first has made of the user', async () => {
    const [sub, email] = [newSub(), 'both@partner.example'];
    const first = (role: string) => partner.token({ sub, email, role });
    const second = () => bounded.token({ sub, email });
    await service.accessToken({ subject_token: first('global:member') });
    await service.accessToken({ subject_token: second() });
    await service.accessToken({ subject_token: first('global:admin') });
    expect((await service.exchange({ subject_token: second() })).status).toBe(400);
    const pair = { subject_token: first('global:member'), actor_token: second() };
    expect((await service.exchange(pair)).status).toBe(200);
  });
});

describeOnAnyDatabase('actors before ours', (database) => {
  const service = TestService.forBlock(database, { trustedKeys: [partner.entry, other.entry] });
  let ownerId: string;

  beforeAll(async () => {
    ownerId = await createUser(service, { email: 'owner@instance.example', role: 'global:owner' });
    await service.accessToken({ subject_token: other.token({ sub: 'companion' }) });
  });
  const companion = () => other.token({ sub: 'companion' });
  const issued = async (subject: Members, actor?: Members) => {
    const answer = await service.exchange({
      subject_token: partner.token({ sub: newSub(), ...subject }),
      actor_token: actor && other.token({ sub: 'robot', ...actor }),
    });
    const { authorization = '' } = await credentialOf(answer);
    return { answer, claims: decodeJwt(authorization.slice('Bearer '.length)) };
  };
  const recordedIn = async (answer: Response) => {
    const succeeded = (await eventsOf(service, answer)).find(({ name }) => name.endsWith('.succeeded'));
    return succeeded?.payload['priorActors'];
  };

  describe.each(WAYS)('by $name', (way) => {
    it.each(WRONG)('[%s] %s is an invalid claim', async (_rule, _what, act) => {
      const before = await census(service);
      const answer = await way.send(service, partner.token({ sub: newSub(), act }), companion);
      if (way.flow === 'embed') {
        expect(answer.status).toBe(500);
        expect(await answer.json()).toMatchObject({ error: 'claims_invalid' });
      } else expect([answer.status, await answer.text()]).toEqual([400, INVALID_CLAIMS]);
      await expectUnchanged(service, before, 0);
    });

    it('[P.priorActors] five of them are accepted, and nobody of them is signed in', async () => {
      const token = partner.token({ sub: newSub(), act: chainOf(5) });
      const me = await signedIn(service, await way.send(service, token, companion));
      expect(me.user.role).toBe('global:member');
    });

    it('[P.priorActors] one who has the owner’s local id, or e-mail, is not the owner', async () => {
      for (const act of [
        { sub: ownerId },
        { sub: ownerId, iss: ELSEWHERE },
        { sub: 'x', email: 'owner@instance.example', role: 'global:owner', act: { sub: ownerId } },
      ]) {
        const sub = newSub();
        const answer = await way.send(service, partner.token({ sub, act }), companion);
        const me = await signedIn(service, answer.clone());
        const ids = [me.user.id, me.onBehalfOf?.id];
        expect(ids).toContain((await linkedUser(service, partner.issuer, sub))?.id);
        expect(ids).not.toContain(ownerId);
        const asThem = { headers: await credentialOf(answer) };
        expect((await service.fetch('/api/v1/users', asThem)).status).toBe(403);
      }
    });
  });

  it("[P.priorActors] the subject's prior actors are inside our own actor, with their issuers", async () => {
    const act = { sub: 'robot-1', email: 'x@y.example', act: { sub: 'robot-2', iss: ELSEWHERE, role: 'x' } };
    const { claims, answer } = await issued({ act }, {});
    const robot = await linkedUser(service, other.issuer, 'robot');
    expect(claims['act']).toEqual({
      sub: robot?.id,
      act: { iss: partner.issuer, sub: 'robot-1', act: { iss: ELSEWHERE, sub: 'robot-2' } },
    });
    expect(await recordedIn(answer)).toEqual([
      { iss: partner.issuer, sub: 'robot-1' },
      { iss: ELSEWHERE, sub: 'robot-2' },
    ]);
  });

  it('[P.priorActors][D23] the trail and the log leave out their e-mail addresses, and the access token has them', async () => {
    const act = {
      sub: 'jane@product.example',
      act: { sub: 'robot', iss: `${ELSEWHERE}/jane@product.example` },
    };
    const { claims, answer } = await issued({ act }, {});
    expect(claims['act']).toMatchObject({ act: { sub: act.sub, act: act.act } });
    const hidden = expect.stringContaining('not shown');
    expect(await recordedIn(answer)).toEqual([
      { iss: partner.issuer, sub: hidden },
      { iss: hidden, sub: 'robot' },
    ]);
    expect(service.logText).not.toContain('jane@');
  });
});
