// What the policies of trusted key entries allow over HTTP. Unit tests of grants, claims and admission have all cases.
import { decodeJwt } from 'jose';
import type { Members } from '../../demo/partner.js';
import type { Issued } from '../support/answers.js';
import { jsonOf } from '../support/answers.js';
import { eventsOf } from '../support/audit.js';
import { census } from '../support/census.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import type { EntryPath } from '../support/entry-paths.js';
import {
  credentialOf,
  EMBED_PATH,
  ENTRY_PATHS,
  INVALID_CLAIMS,
  outcomeOf,
  signedIn,
} from '../support/entry-paths.js';
import { JwksServer } from '../support/jwks-server.js';
import { changeUser, createUser, linkedUser, linkUser } from '../support/local-users.js';
import { TestClock } from '../support/test-clock.js';
import { BASE_URL, TestService } from '../support/test-service.js';
import {
  expectRefusal,
  expectUnchanged,
  newSub,
  subjectBesideActor,
  TrustedPartner,
  WAYS,
} from './support/trusted-partner.js';

const ACTOR = { flow: 'exchange', party: 'actor' } as const;
const ELSEWHERE = 'https://elsewhere.example';

const partner = new TrustedPartner();
const other = new TrustedPartner();
const bounded = new TrustedPartner({ roleCeiling: true, allowedRoles: ['global:member'] });
const customers = new TrustedPartner();
const strangers = new TrustedPartner();
const forCustomers = new TrustedPartner({ actFor: [customers.issuer] });
const cautious = new TrustedPartner({ rights: 'both' });

const [ORDERS, STOCK, BILLS] = [
  'https://orders.example/',
  'https://stock.example/api',
  'https://bills.example/',
];

const subjects = new TrustedPartner({ scopes: ['a', 'b'], resources: [ORDERS, STOCK] });
const actors = new TrustedPartner({ scopes: ['b', 'c'], resources: [STOCK, BILLS] });
const barred = new TrustedPartner({ scopes: [], resources: [] });

/** So many parties, the latest outermost. */
function chainOf(length: number): Members {
  const inner = length > 1 ? { act: chainOf(length - 1) } : {};
  return { sub: `party-${length}`, iss: ELSEWHERE, ...inner };
}

describeOnAnyDatabase('the policies of entries', (database) => {
  const partners = [
    partner,
    other,
    bounded,
    customers,
    strangers,
    forCustomers,
    cautious,
    subjects,
    actors,
    barred,
  ];
  const service = TestService.forBlock(database, { trustedKeys: partners.map(({ entry }) => entry) });
  const tokenOf = (signer: TrustedPartner, claims: Members = {}) =>
    signer.token({ sub: newSub(), ...claims });

  describe('who acts for whom', () => {
    const exchange = (subjectToken: string, actorToken: string) =>
      service.exchange({ subject_token: subjectToken, actor_token: actorToken });

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
    ])('[P.rights] if the entry of %s requires the rights of both', async (_, subject, actor, rights) => {
      const fields = { subject_token: tokenOf(subject), actor_token: actor && tokenOf(actor) };
      const claims = decodeJwt(await service.accessToken(fields));
      expect(claims['delegated_rights']).toBe(rights);
    });
  });

  describe('what an access token is granted', () => {
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
      '[P.scopes][P.resources] a %s that one of two entries does not list is refused, and both tokens stay unused',
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

    it('[4.2.scope][4.2.resource] an access token that would be too large is refused before a token is used up; the longest ASCII values are accepted', async () => {
      const subjectToken = tokenOf(customers);
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

    it('[P.scopes][P.resources] do not affect embedded logins', async () => {
      expect((await service.embed({ token: tokenOf(barred) })).status).toBe(303);
    });
  });

  it('[D7] the actor is checked against the changes that the subject has caused to their common user', async () => {
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

  describe('prior actors', () => {
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

    it('[D126] a party of this instance among them is an invalid claim', async () => {
      const before = await census(service);
      const act = { sub: 'party', act: { sub: 'inner', iss: BASE_URL } };
      const answer = await service.exchange({ subject_token: partner.token({ sub: newSub(), act }) });
      expect([answer.status, await answer.text()]).toEqual([400, INVALID_CLAIMS]);
      await expectUnchanged(service, before, 0);
    });

    describe.each(WAYS)('by $name', (way) => {
      it('[P.priorActors] five are accepted, and none of them is signed in', async () => {
        const token = partner.token({ sub: newSub(), act: chainOf(5) });
        const me = await signedIn(service, await way.send(service, token, companion));
        expect(me.user.role).toBe('global:member');
      });

      it('[P.priorActors] an actor with the owner’s local id or e-mail is not the owner', async () => {
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
      const act = {
        sub: 'robot-1',
        email: 'x@y.example',
        act: { sub: 'robot-2', iss: ELSEWHERE, role: 'x' },
      };
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
});

const [embedGet, embedPost, subject, actor] = ENTRY_PATHS as [EntryPath, EntryPath, EntryPath, EntryPath];
const ALL_WAYS = [...ENTRY_PATHS, subjectBesideActor];

describeOnAnyDatabase('what an entry is trusted for', (database) => {
  const open = new TrustedPartner();
  const embedding = new TrustedPartner({ flows: ['embed'] });
  const exchanging = new TrustedPartner({ flows: ['exchange'] });
  const accompanied = new TrustedPartner({ requireActor: true });
  const companion = () => open.token({ sub: newSub() });
  const trustedKeys = [open, embedding, exchanging, accompanied].map(({ entry }) => entry);
  const service = TestService.forBlock(database, { trustedKeys });

  it.each([
    ['[P.flows] embed', embedding, actor, 'flow_not_allowed', embedPost],
    ['[P.flows] exchange', exchanging, embedGet, 'flow_not_allowed', subject],
    ['[P.requireActor] true', accompanied, embedPost, 'actor_required', subjectBesideActor],
    ['[P.requireActor] true', accompanied, subject, 'actor_required', subjectBesideActor],
  ])(
    '%s: another way is refused, and the token can still be used where it may',
    async (_, partner, way, reason, stillGood) => {
      const token = partner.token({ sub: newSub() });
      const before = await census(service);
      await expectRefusal(service, await way.send(service, token, companion), way, reason);
      await expectUnchanged(service, before, 0);
      expect(outcomeOf(await stillGood.send(service, token, companion))).toBe('accepted');
    },
  );
});

describeOnAnyDatabase('the end of trust in an entry', (database) => {
  const clock = new TestClock();
  const [open, ending] = [new TrustedPartner(), new TrustedPartner()];
  const jwks = JwksServer.forBlock();
  const service = TestService.forBlock(database, () => {
    jwks.publish(ending.partner.jwks(), { 'cache-control': 'max-age=86400' });
    const notAfter = new Date(clock.nowMs() + 60_000).toISOString();
    const entry = { type: 'jwks', url: jwks.url, issuer: ending.issuer, notAfter };
    return {
      trustedKeys: [open.entry, entry],
      environment: { SVC_TOKEN_EXCHANGE_JWKS_ALLOW_HTTP: 'true' },
      clock,
    };
  });

  const tokenOf = (partner: TrustedPartner) =>
    partner.token({ sub: newSub(), iat: Math.floor(clock.nowSeconds()) });
  const companion = () => tokenOf(open);

  it('[P.notAfter][K21] its tokens are good until then, refused on every way in from then on even if its keys are held, and stay unused', async () => {
    clock.advance(59);
    for (const way of ALL_WAYS)
      expect(outcomeOf(await way.send(service, tokenOf(ending), companion))).toBe('accepted');
    clock.advance(1);
    const { requestCount } = jwks;
    for (const way of ALL_WAYS) {
      const before = await census(service);
      const answer = await way.send(service, tokenOf(ending), companion);
      await expectRefusal(service, answer, way, 'trust_ended');
      await expectUnchanged(service, before, 0);
    }
    expect(jwks.requestCount).toBe(requestCount);
  });
});

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

describeOnAnyDatabase('the strict policy', (database) => {
  const service = TestService.forBlock(database, {
    trustedKeys: [silent, scoped, weak].map(({ entry }) => entry),
    environment: { SVC_TOKEN_EXCHANGE_STRICT: 'true' },
  });

  const noCompanion = () => '';
  const login = (partner: TrustedPartner, claims: Members = {}) =>
    embedPost.send(service, partner.token({ sub: newSub(), ...claims }), noCompanion);

  it('[P.strict][P.requireVerifiedEmail] a user is created only if the issuer calls the e-mail address verified', async () => {
    await expectRefusal(service, await login(silent), embedPost, 'email_not_verified');
    expect(outcomeOf(await login(silent, VERIFIED))).toBe('accepted');
    expect(outcomeOf(await login(weak))).toBe('accepted');
  });

  it.each([
    [ADMIN, 'stored_role_not_allowed'],
    ['global:owner', 'owner_excluded'],
  ] as const)('[P.strict][P.roleCeiling][P.excludeOwner] refuses a known %s', async (role, reason) => {
    const sub = newSub();
    const id = await createUser(service, { email: silent.emailOf(sub), role });
    for (const { issuer } of [silent, weak]) await linkUser(service, issuer, sub, id);
    await expectRefusal(service, await login(silent, { sub }), embedPost, reason);
    expect(outcomeOf(await login(weak, { sub }))).toBe('accepted');
    if (role === ADMIN) await changeUser(service, id, { role: MEMBER });
    else return;
    expect(outcomeOf(await login(silent, { sub }))).toBe('accepted');
  });

  it('[P.strict] refuses a login by GET as an unknown method, and leaves the token unused', async () => {
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
