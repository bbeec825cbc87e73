// What an entry is trusted for: the flows, the time, and with an actor only. Checked before a token is used up.
import type { Members } from '../../demo/partner.js';
import { census } from '../support/census.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { ENTRY_PATHS, outcomeOf } from '../support/entry-paths.js';
import type { EntryPath } from '../support/entry-paths.js';
import { JwksServer } from '../support/jwks-server.js';
import { TestClock } from '../support/test-clock.js';
import { TestService } from '../support/test-service.js';
import {
  TrustedPartner,
  expectRefusal,
  expectUnchanged,
  newSub,
  subjectBesideActor,
} from './support/trusted-partner.js';

const [embedGet, embedPost, subject, actor] = ENTRY_PATHS as [EntryPath, EntryPath, EntryPath, EntryPath];
const WAYS = [...ENTRY_PATHS, subjectBesideActor];
const EMBED = [embedGet, embedPost];
const EXCHANGE = [subject, actor, subjectBesideActor];

interface TrustCase {
  /** Begins with the rule. */
  readonly title: string;
  readonly policy: Members;
  readonly reason: string;
  readonly refused: readonly EntryPath[];
  /** A way that the same token may still go, after it was refused on another. */
  readonly stillGood?: EntryPath;
}

const CASES: readonly TrustCase[] = [
  {
    title: '[P.flows] embed',
    policy: { flows: ['embed'] },
    reason: 'flow_not_allowed',
    refused: EXCHANGE,
    stillGood: embedPost,
  },
  {
    title: '[P.flows] exchange',
    policy: { flows: ['exchange'] },
    reason: 'flow_not_allowed',
    refused: EMBED,
    stillGood: subject,
  },
  {
    title: '[P.requireActor] true',
    policy: { requireActor: true },
    reason: 'actor_required',
    refused: [...EMBED, subject],
    stillGood: subjectBesideActor,
  },
];

describeOnAnyDatabase('what an entry is trusted for', (database) => {
  const open = new TrustedPartner();
  const partners = new Map(CASES.map((one) => [one, new TrustedPartner(one.policy)]));
  const companion = () => open.token({ sub: newSub() });
  const trustedKeys = [open, ...partners.values()].map(({ entry }) => entry);
  const service = TestService.forBlock(database, { trustedKeys });

  const tries = CASES.flatMap((one) =>
    WAYS.map((way) => ({ title: one.title, way: way.name, one, of: way })),
  );

  it.each(tries.filter(({ one, of }) => one.refused.includes(of)))(
    '$title: $way is refused, and the token can still be used where it may',
    async ({ one, of: way }) => {
      const token = partners.get(one)!.token({ sub: newSub() });
      const before = await census(service);
      await expectRefusal(service, await way.send(service, token, companion), way, one.reason);
      await expectUnchanged(service, before, 0);
      expect(outcomeOf(await one.stillGood!.send(service, token, companion))).toBe('accepted');
    },
  );

  it.each(tries.filter(({ one, of }) => !one.refused.includes(of)))(
    '$title: $way is accepted',
    async ({ one, of: way }) => {
      const token = partners.get(one)!.token({ sub: newSub() });
      expect(outcomeOf(await way.send(service, token, companion))).toBe('accepted');
    },
  );

  it('[P.flows] a subject whose actor may only embed is refused, and both tokens stay unused', async () => {
    const embedOnly = partners.get(CASES[0]!)!;
    const [subjectToken, actorToken] = [companion(), embedOnly.token({ sub: newSub() })];
    const answer = await service.exchange({ subject_token: subjectToken, actor_token: actorToken });
    await expectRefusal(service, answer, { flow: 'exchange', party: 'actor' }, 'flow_not_allowed');
    expect((await service.exchange({ subject_token: subjectToken })).status).toBe(200);
    expect((await service.embed({ token: actorToken })).status).toBe(303);
  });
});

describeOnAnyDatabase('the end of trust in an entry', (database) => {
  const clock = new TestClock();
  const notAfter = new Date(clock.nowMs() + 60_000).toISOString();
  const [open, ending, fetched] = [
    new TrustedPartner(),
    new TrustedPartner({ notAfter }),
    new TrustedPartner(),
  ];
  const jwks = JwksServer.forBlock();
  const service = TestService.forBlock(database, () => {
    jwks.publish(fetched.jwks(), { 'cache-control': 'max-age=86400' });
    return {
      trustedKeys: [
        ...[open.entry, ending.entry],
        { type: 'jwks', url: jwks.url, issuer: fetched.issuer, notAfter },
      ],
      environment: { SVC_TOKEN_EXCHANGE_JWKS_ALLOW_HTTP: 'true' },
      clock,
    };
  });

  const tokenOf = (partner: TrustedPartner) =>
    partner.token({ sub: newSub(), iat: Math.floor(clock.nowSeconds()) });
  const companion = () => tokenOf(open);

  it.each([
    ['configured', ending],
    ['fetched, held and fresh', fetched],
  ])(
    '[P.notAfter][K21] by keys that are %s: good until then, refused on every way in from then on, and the token stays unused',
    async (_, partner) => {
      clock.advance(59);
      for (const way of WAYS)
        expect(outcomeOf(await way.send(service, tokenOf(partner), companion))).toBe('accepted');
      clock.advance(1);
      const { requestCount } = jwks;
      for (const way of WAYS) {
        const token = tokenOf(partner);
        const before = await census(service);
        await expectRefusal(service, await way.send(service, token, companion), way, 'trust_ended');
        await expectUnchanged(service, before, 0);
      }
      expect(jwks.requestCount).toBe(requestCount);
      clock.setBack(60);
    },
  );
});
