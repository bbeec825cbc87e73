// "Why can't this user sign in?": the operator's API answers by one request about a person.
import { Partner } from '../../demo/partner.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { changeUser, linkedUser } from '../support/local-users.js';
import type { OperatorBrowser } from '../support/operators.js';
import { createOperator, OPERATOR_ENVIRONMENT, signedIn } from '../support/operators.js';
import { BASE_URL, TestService } from '../support/test-service.js';

const partner = Partner.create({ issuer: 'https://partner.example', audience: BASE_URL });

interface Found {
  reason: string;
  subjectUserId: string | null;
}

type Claims = Record<string, unknown>;

/** A mistake that the verification finds, and one that is found later, each with its changed claims. */
const MISTAKES: readonly (readonly [reason: string, claims: Claims])[] = [
  ['claims_invalid', { jti: undefined }],
  ['role_not_allowed', { role: 'global:admin' }],
];

describeOnEachDatabase("why a user can't sign in", (database) => {
  const service = TestService.forBlock(database, {
    environment: OPERATOR_ENVIRONMENT,
    trustedKeys: [{ ...partner.staticEntry(), allowedRoles: ['global:member'] }],
  });
  let browser: OperatorBrowser;

  beforeAll(async () => {
    await createOperator(service, 'ada@example.com', 'global:owner');
    browser = await signedIn(service, 'ada@example.com');
  });
  const refusalsOf = async (user: string): Promise<Found[]> => {
    const answer = await browser.send('POST', 'refusals/search', { user });
    return ((await answer.json()) as { data: Found[] }).data;
  };
  const send = (claims: Claims) =>
    service.exchange({
      subject_token: partner.sign(partner.claims(claims)),
    });

  it.each(MISTAKES)(
    '[6.2] %s is found by e-mail address, sub and id of a known user',
    async (reason, wrong) => {
      const sub = `known ${reason}`;
      const email = `${reason}@known.example`;
      expect((await send({ sub, email })).status).toBe(200);
      const userId = (await linkedUser(service, partner.issuer, sub))?.id;
      if (userId === undefined) throw new Error('the user was not made');
      const answer = await send({ sub, email, ...wrong });
      expect(answer.status).toBe(400);
      for (const user of [email, email.toUpperCase(), sub, userId])
        expect(await refusalsOf(user)).toMatchObject([{ reason, subjectUserId: userId }]);
    },
  );

  it.each(MISTAKES)(
    '[6.2] %s is found by e-mail address and sub of an unknown person',
    async (reason, wrong) => {
      const sub = `unknown ${reason}`;
      const email = `${reason}@unknown.example`;
      await send({ sub, email, ...wrong });
      for (const user of [email, sub])
        expect(await refusalsOf(user)).toMatchObject([{ reason, subjectUserId: null }]);
      expect(await refusalsOf(`other ${sub}`)).toEqual([]);
    },
  );

  it('[6.2] the person is shown with state, sign-ins and links, even without a refusal', async () => {
    const [sub, email] = ['no refusal', 'no-refusal@known.example'];
    expect((await send({ sub, email })).status).toBe(200);
    const { id } = (await linkedUser(service, partner.issuer, sub))!;
    await changeUser(service, id, { enabled: false });
    const personOf = async (user: string) =>
      ((await (await browser.send('POST', 'refusals/groups', { user })).json()) as { person: unknown })
        .person;
    for (const user of [email, id, sub])
      expect(await personOf(user)).toMatchObject({
        ...{ id, email, enabled: false },
        links: [{ issuer: partner.issuer, subject: sub }],
        signIns: [{ event: 'svc.audit.token-exchange.succeeded' }],
      });
    expect(await personOf('nobody@known.example')).toBeNull();
  });

  it('[6.2] a replayed token is found by the user whom it had signed in', async () => {
    const email = 'again@known.example';
    const token = partner.sign(partner.claims({ sub: 'again', email }));
    expect((await service.exchange({ subject_token: token })).status).toBe(200);
    expect((await service.exchange({ subject_token: token })).status).toBe(400);
    expect(await refusalsOf(email)).toMatchObject([
      { reason: 'token_replayed', subjectUserId: expect.any(String) as string },
    ]);
  });

  it('[6.2] a forged token names no person, and neither address nor sub is stored or logged', async () => {
    const forger = Partner.create({ issuer: partner.issuer, audience: BASE_URL });
    const { kid } = partner.staticEntry() as { kid: string };
    const claims = partner.claims({ sub: 'forged sub', email: 'forged@known.example' });
    await service.exchange({ subject_token: forger.sign(claims, { kid }) });
    expect(await refusalsOf('forged sub')).toEqual([]);
    await send({ sub: 'secret sub', email: 'secret@unknown.example', aud: 'https://other.example' });
    const stored = JSON.stringify(await service.rows('SELECT * FROM audit_event')) + service.logText;
    expect(stored).not.toMatch(/secret sub|secret@unknown|forged sub/);
    const [row] = await service.rows<{ hashes: number }>(
      `SELECT cardinality(person_hashes) AS hashes FROM audit_event WHERE payload->>'reason' = 'audience_mismatch' ORDER BY id DESC LIMIT 1`,
    );
    expect(row).toEqual({ hashes: 2 });
  });
});
