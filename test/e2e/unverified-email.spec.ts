// Whoever brings the owner's e-mail address without its issuer vouching for it becomes nobody, least of all the owner.
import { Partner } from '../../demo/partner.js';
import { census, eventsOf } from '../support/census.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { ENTRY_PATHS, INVALID_GRANT, signedIn } from '../support/entry-paths.js';
import { createUser, linkedUser } from '../support/local-users.js';
import { TestService } from '../support/test-service.js';

const OWNER_EMAIL = 'owner@partner.example';
const NOT_VERIFIED: unknown[] = [
  ...[
    false,
    null,
    0,
    1,
    -1,
    '',
    ' ',
    'false',
    'False',
    'FALSE',
    'TRUE',
    'True',
    'true ',
    'yes',
    '1',
    '0',
    'null',
  ],
  ...[[], [true], ['true'], {}, { value: true }],
];

const partner = Partner.create({ issuer: 'https://partner.example' });
let subjects = 0;
const newSub = () => `stranger-${++subjects}`;

describeOnEachDatabase('an e-mail that is not verified', (database) => {
  const service = TestService.forBlock(database, { trustedKeys: [partner.staticEntry()] });
  let ownerId: string;

  const token = (claims: Record<string, unknown>) => partner.sign(partner.claims(claims));
  const companion = () => token({ sub: 'companion' });

  beforeAll(async () => {
    ownerId = await createUser(service, { email: OWNER_EMAIL, role: 'global:owner' });
    await service.accessToken({ subject_token: companion() });
  });
  describe.each(ENTRY_PATHS)('by $name', (path) => {
    it.each(NOT_VERIFIED)(
      '[D5][K31] email_verified %j links nobody to the owner and makes no user',
      async (verified) => {
        for (const email of [OWNER_EMAIL, `${newSub()}@partner.example`]) {
          const sub = newSub();
          const before = await census(service);
          const answer = await path.send(service, token({ sub, email, email_verified: verified }), companion);
          expect(answer.status).toBe(path.flow === 'embed' ? 401 : 400);
          expect(answer.headers.get('set-cookie')).toBeNull();
          const body = await answer.text();
          if (path.flow === 'embed') expect(JSON.parse(body)).toMatchObject({ error: 'email_not_verified' });
          else expect(body).toBe(INVALID_GRANT);
          expect(await eventsOf(service, answer)).toMatchObject([
            { payload: { reason: 'email_not_verified' } },
          ]);
          expect(await linkedUser(service, partner.issuer, sub)).toBeUndefined();
          const { users, userStates, links, sessions } = before;
          expect(await census(service)).toMatchObject({ users, userStates, links, sessions });
        }
      },
    );

    it.each([true, 'true', undefined])(
      '[D5] email_verified %j links, as the specification says',
      async (verified) => {
        const claims = { sub: newSub(), email: OWNER_EMAIL, email_verified: verified };
        const answer = await path.send(service, token(claims), companion);
        expect((await signedIn(service, answer)).user.id).toBe(ownerId);
      },
    );
  });
});
