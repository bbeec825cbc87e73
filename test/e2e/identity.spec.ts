// Which local user an external identity is, and what becomes of its role and names.
import type { Members } from '../../demo/partner.js';
import { Partner } from '../../demo/partner.js';
import { EVENT, eventsOf } from '../support/audit.js';
import { census } from '../support/census.js';
import { describeOnEachDatabase, describeOnPostgresql } from '../support/databases.js';
import type { EntryPath } from '../support/entry-paths.js';
import { BOTH_FLOWS, credentialOf, ENTRY_PATHS, outcomeOf, signedIn } from '../support/entry-paths.js';
import { changeUser, createUser, linkedUser, storedUser } from '../support/local-users.js';
import { deadlocksDuring } from '../support/statements.js';
import { TestService } from '../support/test-service.js';

const MEMBER = 'global:member';
const ADMIN = 'global:admin';
const OWNER = 'global:owner';

/** No policy. */
const partner = Partner.create({ issuer: 'https://partner.example' });
/** Another issuer without policy. */
const rival = Partner.create({ issuer: 'https://rival.example' });
/** Members only. */
const limited = Partner.create({ issuer: 'https://limited.example' });
/** Administrators only. */
const exclusive = Partner.create({ issuer: 'https://exclusive.example' });

const trustedKeys = [
  partner.staticEntry(),
  rival.staticEntry(),
  limited.staticEntry({ allowedRoles: [MEMBER] }),
  exclusive.staticEntry({ allowedRoles: [ADMIN] }),
];

const tokenOf = (issuer: Partner, claims: Members) => issuer.sign(issuer.claims(claims));
const token = (claims: Members) => tokenOf(partner, claims);

let subjects = 0;
/** A sub that no other test uses. */
const newSub = () => `person-${++subjects}`;

const companion = () => tokenOf(rival, { sub: 'companion' });

/** How many users, links, personal projects, members and provisionings there are of addresses that begin so. */
async function madeFor(service: TestService, beginning: string): Promise<number[]> {
  const [row] = await service.rows<Record<string, number>>(
    `WITH made AS (SELECT id FROM user_account WHERE starts_with(email, $1))
     SELECT (SELECT count(*) FROM made)::int AS users,
       (SELECT count(*) FROM token_exchange_identity_link WHERE user_id IN (SELECT id FROM made))::int AS links,
       (SELECT count(*) FROM project WHERE personal_owner_id IN (SELECT id FROM made))::int AS projects,
       (SELECT count(*) FROM project_member WHERE role = 'project:admin' AND user_id IN (SELECT id FROM made))::int AS members,
       (SELECT count(*) FROM audit_event WHERE name LIKE '%.user-provisioned'
          AND subject_user_id IN (SELECT id FROM made))::int AS told`,
    [beginning],
  );
  return Object.values(row ?? {});
}

describeOnEachDatabase('identity', (database) => {
  const service = TestService.forBlock(database, { trustedKeys });

  beforeAll(async () => {
    await service.accessToken({ subject_token: companion() });
  });
  const use = (path: EntryPath, text: string) => path.send(service, text, companion);
  const exchange = (text: string) => service.exchange({ subject_token: text });
  const linked = (sub: string, issuer = partner.issuer) => linkedUser(service, issuer, sub);
  const userIdOf = async (answer: Response) => (await signedIn(service, answer)).user.id;

  describe.each(ENTRY_PATHS)('by $name', (path) => {
    it('[4.4.1] a linked identity is its user, with any later e-mail', async () => {
      const sub = newSub();
      const id = await userIdOf(await use(path, token({ sub })));
      expect(await userIdOf(await use(path, token({ sub, email: undefined })))).toBe(id);
      const bystander = await createUser(service, { email: `bystander-${sub}@partner.example` });
      const email = `bystander-${sub}@partner.example`;
      expect(await userIdOf(await use(path, token({ sub, email })))).toBe(id);
      expect((await linked(sub))?.id).not.toBe(bystander);
    });

    it('[4.4.2][2.5.1] an unknown identity is linked to the user who has its e-mail', async () => {
      const sub = newSub();
      const id = await createUser(service, { email: `${sub}@partner.example` });
      const before = await census(service);
      const answer = await use(path, token({ sub }));
      expect(await userIdOf(answer)).toBe(id);
      expect(await census(service)).toMatchObject({ users: before.users, links: before.links + 1 });
      const links = await service.rows(
        'SELECT by_administrator, is_provisioned FROM token_exchange_identity_link WHERE issuer = $1 AND subject = $2',
        [partner.issuer, sub],
      );
      expect(links).toEqual([{ by_administrator: false, is_provisioned: false }]);
      const events = await eventsOf(service, answer);
      expect(events).toContainEqual(expect.objectContaining({ name: `${EVENT}identity-linked` }));
      // From now on it is the link that counts (2.5.1).
      expect(await userIdOf(await use(path, token({ sub, email: undefined })))).toBe(id);
    });

    it('[4.4.3][2.5.2] otherwise a member is made, with a personal project and without password login', async () => {
      const sub = newSub();
      const before = await census(service);
      const answer = await use(path, token({ sub, given_name: 'Ada', family_name: 'King' }));
      const id = await userIdOf(answer);
      expect(await storedUser(service, id)).toEqual({
        id,
        email: `${sub}@partner.example`,
        role: MEMBER,
        givenName: 'Ada',
        familyName: 'King',
        enabled: true,
        passwordLoginEnabled: false,
      });
      expect(await census(service)).toMatchObject({
        users: before.users + 1,
        links: before.links + 1,
        personalProjects: before.personalProjects + 1,
      });
      const names = (await eventsOf(service, answer)).map(({ name }) => name);
      expect(names).toContain(`${EVENT}user-provisioned`);
    });

    it('[D1][K2] two issuers that send the same sub have two users', async () => {
      const sub = newSub();
      const ids = [await userIdOf(await use(path, token({ sub })))];
      ids.push(await userIdOf(await use(path, tokenOf(limited, { sub }))));
      expect(new Set(ids).size).toBe(2);
      expect((await linked(sub))?.id).toBe(ids[0]);
      expect((await linked(sub, limited.issuer))?.id).toBe(ids[1]);
      // Without an e-mail address, the other entry's link is not found either.
      const stranger = tokenOf(exclusive, { sub, email: undefined });
      expect(outcomeOf(await use(path, stranger))).toMatch(/^refused/);
    });

    it('[D5][K1] an e-mail that is not verified neither links nor provisions', async () => {
      const sub = newSub();
      await createUser(service, { email: `victim-${sub}@partner.example` });
      const before = await census(service);
      for (const email of [`victim-${sub}@partner.example`, `fresh-${sub}@partner.example`]) {
        const text = token({ sub, email, email_verified: false });
        expect(outcomeOf(await use(path, text))).toMatch(/^refused/);
      }
      const { users, links, sessions, userStates } = before;
      expect(await census(service)).toMatchObject({ users, links, sessions, userStates });
    });

    it('[D5] an unverified e-mail does not shut a known identity out', async () => {
      const sub = newSub();
      await use(path, token({ sub }));
      expect(outcomeOf(await use(path, token({ sub, email_verified: false })))).toBe('accepted');
    });

    it('[2.5.3] names are updated if they differ, and kept if the claims are missing', async () => {
      const sub = newSub();
      await use(path, token({ sub, given_name: 'Ada', family_name: 'King' }));
      await use(path, token({ sub, given_name: 'Augusta', family_name: undefined }));
      expect(await linked(sub)).toMatchObject({ givenName: 'Augusta', familyName: 'King' });
      const before = await census(service);
      await use(path, token({ sub, given_name: 'Augusta', family_name: 'King' }));
      expect((await census(service)).userStates).toBe(before.userStates);
    });
  });

  describe.each(ENTRY_PATHS)('the role table by $name', (path) => {
    /** A user whose identity is linked already. */
    async function knownUser(issuer: Partner, role: 'global:member' | 'global:admin'): Promise<string> {
      const sub = newSub();
      await exchange(tokenOf(issuer, { sub }));
      const user = await linked(sub, issuer.issuer);
      await changeUser(service, user?.id ?? '', { role });
      return sub;
    }

    it.each<[string, Partner, string | undefined, string]>([
      ['[4.4.role.1] a new user without a claim is a member', partner, undefined, MEMBER],
      ['[D9] even where members may not be claimed', exclusive, undefined, MEMBER],
      ['[4.4.role.2] a new user gets the claimed role', partner, ADMIN, ADMIN],
    ])('%s', async (_, issuer, role, expected) => {
      const sub = newSub();
      expect(outcomeOf(await use(path, tokenOf(issuer, { sub, role })))).toBe('accepted');
      expect(await linked(sub, issuer.issuer)).toMatchObject({ role: expected });
    });

    it.each<[string, Partner, 'global:member' | 'global:admin', string | undefined, string]>([
      ['[4.4.role.3] without a claim the role stays', partner, ADMIN, undefined, ADMIN],
      ['[4.4.role.4] a valid claim raises the role', partner, MEMBER, ADMIN, ADMIN],
      ['[2.2.10][4.4.role.4] a valid claim lowers the role', partner, ADMIN, MEMBER, MEMBER],
      ['[4.4.role.5] an unknown claim is ignored', partner, ADMIN, 'global:king', ADMIN],
      ['[4.4.role.5] a claim to be owner is ignored', partner, MEMBER, OWNER, MEMBER],
    ])('%s', async (_, issuer, role, claim, expected) => {
      const sub = await knownUser(issuer, role);
      const answer = await use(path, tokenOf(issuer, { sub, role: claim }));
      expect(outcomeOf(answer)).toBe('accepted');
      expect(await linked(sub, issuer.issuer)).toMatchObject({ role: expected });
      const events = await eventsOf(service, answer);
      const updates = events.filter(({ name }) => name === `${EVENT}role-updated`);
      expect(updates.map(({ payload }) => [payload['from'], payload['to']])).toEqual(
        role === expected ? [] : [[role, expected]],
      );
    });

    it('[4.4.role.4] a refused claim leaves no link to the user with that e-mail, and no name', async () => {
      const sub = newSub();
      await createUser(service, { email: `${sub}@limited.example`, role: ADMIN });
      const before = await census(service);
      const text = tokenOf(limited, { sub, role: ADMIN, given_name: 'Mallory' });
      expect(outcomeOf(await use(path, text))).toMatch(/^refused/);
      const { userStates, links } = before;
      expect(await census(service)).toMatchObject({ userStates, links });
    });
  });

  describe('the owner', () => {
    let id: string;
    const sub = 'the-owner';
    const claims = (role?: string) => ({ sub, role, email: 'owner@instance.example' });

    beforeAll(async () => {
      id = await createUser(service, { email: 'owner@instance.example', role: OWNER });
      // The link to an administrator is warned of (D54): what follows is.
      await exchange(tokenOf(limited, claims()));
    });

    it.each(
      ENTRY_PATHS.flatMap((path) => [undefined, MEMBER].map((role) => ({ path, role, name: path.name }))),
    )('[4.4.role.6] by $name with the claim $role stays the owner', async ({ path, role }) => {
      const linesBefore = service.log.length;
      const answer = await use(path, tokenOf(limited, claims(role)));
      expect(await userIdOf(answer)).toBe(id);
      expect(await storedUser(service, id)).toMatchObject({ role: OWNER });
      const names = (await eventsOf(service, answer)).map(({ name }) => name);
      expect(names).not.toContain(`${EVENT}role-updated`);
      expect(service.log.slice(linesBefore).filter(({ level }) => level === 'warn')).toEqual([]);
    });
  });

  it('[D54] a link to a user with rights is reported once, and a link to a member is not', async () => {
    const name = `${EVENT}privileged-identity-linked`;
    for (const role of [MEMBER, ADMIN] as const) {
      const claims = { sub: newSub(), email: `${role.slice('global:'.length)}@instance.example` };
      const userId = await createUser(service, { email: claims.email, role });
      const lines = service.log.length;
      const answers = [await exchange(token(claims)), await exchange(token(claims))];
      const told = (await Promise.all(answers.map((answer) => eventsOf(service, answer)))).flat();
      const payload = { issuer: partner.issuer, userId, role };
      const privileged = role === ADMIN ? [{ payload }] : [];
      expect(told.filter((event) => event.name === name)).toMatchObject(privileged);
      const warnings = service.log.slice(lines).filter(({ level }) => level === 'warn');
      expect(warnings).toMatchObject(privileged.map(() => ({ userId })));
      expect(JSON.stringify(warnings)).not.toContain('@');
    }
  });

  describe('[D4] e-mail addresses', () => {
    it.each([
      ['in other letters', 'Ada.Lovelace', 'ADA.lovelace'],
      ['beyond ASCII', 'Zo\u00eb.\u00d8stby', 'zo\u00cb.\u00f8STBY'],
    ])('[D4] are the same %s', async (_, stored, claimed) => {
      const sub = newSub();
      const id = await createUser(service, { email: `${stored}-${sub}@partner.example` });
      const answer = await exchange(token({ sub, email: `${claimed}-${sub}@PARTNER.example` }));
      expect(await userIdOf(answer)).toBe(id);
    });
  });

  describe('[4.4.3] first logins', () => {
    const inParallel = (times: number, make: (index: number) => Promise<Response>) =>
      Promise.all(Array.from({ length: times }, (_, index) => make(index)));

    // Opposite orders of locks would be found as a deadlock by PostgreSQL, which ends one of the statements.
    const withoutDeadlock = async (make: (index: number) => Promise<Response>) => {
      const deadlocks = await deadlocksDuring(service, async () => {
        const answers = await inParallel(8, make);
        expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
      });
      expect(deadlocks).toBe(0);
    };
    const actForEachOther = (a: string, b: string, change: (index: number) => Members) =>
      withoutDeadlock((index) => {
        const [subject, actor] = index % 2 === 0 ? [a, b] : [b, a];
        return service.exchange({
          subject_token: token({ sub: subject, ...change(index) }),
          actor_token: token({ sub: actor, ...change(index) }),
        });
      });

    const login = (text: string, requestId = 'first-login') =>
      service.exchange({ subject_token: text }, { 'x-request-id': requestId });
    const statuses = async (tokens: readonly string[]) =>
      (await Promise.all(tokens.map((text) => login(text)))).map(({ status }) => status);

    it.each(BOTH_FLOWS)(
      '[D6] of one identity at once by $name make one user, and all succeed',
      async (path) => {
        const sub = newSub();
        const answers = await inParallel(20, () => use(path, token({ sub })));
        expect(answers.map(outcomeOf)).toEqual(Array(20).fill('accepted'));
        expect(await madeFor(service, `${sub}@`)).toEqual([1, 1, 1, 1, 1]);
      },
    );

    it('[D6][2.5.1] of one identity with two addresses at once leave no user without a link', async () => {
      const tokens = Array.from({ length: 20 }, (_, index) =>
        token({ sub: 'wavering', email: `wavering-${index % 2}@partner.example` }),
      );
      expect(await statuses(tokens)).toEqual(Array(20).fill(200));
      expect(await madeFor(service, 'wavering')).toEqual([1, 1, 1, 1, 1]);
    });

    it('[D6] of two identities with one address at once make one user with two links', async () => {
      const tokens = ['left', 'right'].map((sub) => token({ sub, email: 'shared@partner.example' }));
      expect(await statuses(tokens)).toEqual([200, 200]);
      expect(await madeFor(service, 'shared')).toEqual([1, 2, 1, 1, 1]);
    });

    it('[D6] of unknown users who act for each other: no fault and no deadlock', async () => {
      const before = await census(service);
      await actForEachOther(newSub(), newSub(), () => ({}));
      expect(await census(service)).toMatchObject({ users: before.users + 2, links: before.links + 2 });
    });

    it('[4.4.role.4] of known users who act for each other with new roles and names: no fault and no deadlock', async () => {
      const [a, b] = [newSub(), newSub()];
      for (const sub of [a, b]) await exchange(token({ sub }));
      await actForEachOther(a, b, (index) => ({
        role: index % 4 < 2 ? ADMIN : MEMBER,
        given_name: `Name ${index}`,
      }));
    });
  });

  describe('a user who is disabled', () => {
    it.each(ENTRY_PATHS)('[D7][K4] loses at once what $name has given', async (path) => {
      const answer = await use(path, token({ sub: newSub() }));
      const headers = await credentialOf(answer);
      const me = (await (await service.fetch('/rest/me', { headers })).json()) as { user: { id: string } };
      await changeUser(service, me.user.id, { enabled: false });
      for (const endpoint of ['/rest/me', '/api/v1/workflows']) {
        expect((await service.fetch(endpoint, { headers })).status).toBe(401);
      }
      const logout = await service.post(
        '/rest/auth/logout',
        {},
        { ...headers, origin: 'https://instance.example' },
      );
      expect(logout.status).toBe(401);
      await changeUser(service, me.user.id, { enabled: true });
      expect((await service.fetch('/rest/me', { headers })).status).toBe(401);
    });
  });

  it('[D42] no fault was logged all the while', () => {
    expect(service.log.filter(({ level }) => level === 'error')).toEqual([]);
  });
});

describeOnPostgresql('[D102] a rush of first logins', (database) => {
  const service = TestService.forBlock(database, { trustedKeys });
  const statusOf = async (sub: string) => (await service.exchange({ subject_token: token({ sub }) })).status;

  it('[D102] refuses no known user meanwhile, and makes each user whole or not at all', async () => {
    await statusOf('regular');
    let isOver = false;
    const firsts = Array.from({ length: 300 }, (_, index) => statusOf(`rush-${index}`));
    const rush = Promise.all(firsts).finally(() => (isOver = true));
    const known: number[] = [];
    while (!isOver) known.push(await statusOf('regular'));
    expect(new Set(known)).toEqual(new Set([200]));
    const made = (await rush).filter((status) => status === 200).length;
    expect(new Set(await rush)).not.toContain(500);
    const [users = 0, ...parts] = await madeFor(service, 'rush-');
    expect(users).toBeGreaterThanOrEqual(made);
    expect(parts).toEqual(parts.map(() => users));
  });
});
