// The projects claim: memberships that it adds, changes and removes, by both flows and for both tokens, and its refusals.
import type { Members } from '../../demo/partner.js';
import { Partner } from '../../demo/partner.js';
import { Administration } from '../../src/administration/administration.js';
import { ProjectOperations } from '../../src/administration/projects/projects.operations.js';
import { EVENT, eventsOf } from '../support/audit.js';
import { describeOnEachDatabase, describeOnPostgresql } from '../support/databases.js';
import type { EntryPath } from '../support/entry-paths.js';
import { BOTH_FLOWS, INVALID_CLAIMS, outcomeOf } from '../support/entry-paths.js';
import { explain, requestBy } from '../support/explanations.js';
import { linkedUser } from '../support/local-users.js';
import { deadlocksDuring, takesTransaction } from '../support/statements.js';
import { TestClock } from '../support/test-clock.js';
import { BASE_URL, TestService } from '../support/test-service.js';
import { newSub, TrustedPartner, WAYS } from './support/trusted-partner.js';

const [VIEWER, EDITOR, ADMIN] = ['project:viewer', 'project:editor', 'project:admin'] as const;

/** What was there before a token, and what there is after it, of one project of one user. */
interface SyncCase {
  readonly title: string;
  /** What people have given, before any token. */
  readonly own?: string;
  /** Of an earlier token: the role in the project. */
  readonly earlier?: string;
  /** Undefined: the token does not have the claim. */
  readonly claim?: (key: string) => unknown;
  /** Undefined if the user is not a member. */
  readonly after?: { readonly role: string; readonly by: 'claim' | 'people' };
  /** As the trail and explanations call it. */
  readonly change?: 'added' | 'changed' | 'removed';
}

const named = (role: string) => (key: string) => [`${key}:${role}`];

const CASES: readonly SyncCase[] = [
  {
    title: 'a missing project is created',
    claim: named(VIEWER),
    after: { role: VIEWER, by: 'claim' },
    change: 'added',
  },
  {
    title: '[D134] another role is written',
    earlier: VIEWER,
    claim: named(EDITOR),
    after: { role: EDITOR, by: 'claim' },
    change: 'changed',
  },
  {
    title: '[D134] an empty claim removes the membership',
    earlier: VIEWER,
    claim: () => [],
    change: 'removed',
  },
  {
    title: '[D134] what people gave remains after the claim',
    own: VIEWER,
    earlier: EDITOR,
    claim: () => [],
    after: { role: VIEWER, by: 'people' },
    change: 'changed',
  },
];

const MALFORMED: readonly (readonly [string, unknown])[] = [
  ['a text', `acme:${VIEWER}`],
  ['51 projects', Array.from({ length: 51 }, (_, index) => `acme-${index}:${VIEWER}`)],
];

/** How an explanation says it. */
const PHRASES = {
  added: 'would be added to',
  changed: 'would be project:',
  removed: 'would be removed from',
};

interface Membership {
  readonly key: string | null;
  readonly role: string;
  readonly issuer: string | null;
}

/** The memberships of a user, without the personal project. */
async function memberships(
  service: TestService,
  { issuer }: { readonly issuer: string },
  sub: string,
): Promise<Membership[]> {
  const user = await linkedUser(service, issuer, sub);
  return service.rows<Membership>(
    `SELECT external.key, member.role, member.issuer FROM project_member member
       JOIN project ON project.id = member.project_id AND project.type = 'team'
       LEFT JOIN project_external_key external ON external.project_id = project.id AND external.issuer = $2
     WHERE member.user_id = $1 ORDER BY external.key`,
    [user?.id, issuer],
  );
}

async function projectOf(service: TestService, { issuer }: TrustedPartner, key: string): Promise<string> {
  const [row] = await service.rows<{ id: string }>(
    'SELECT project_id AS id FROM project_external_key WHERE issuer = $1 AND key = $2',
    [issuer, key],
  );
  return row?.id ?? '';
}

/** A project of that key in which people have made a user a member. */
async function givenByPeople(
  service: TestService,
  partner: TrustedPartner,
  key: string,
  sub: string,
  role: string,
) {
  const user = await linkedUser(service, partner.issuer, sub);
  await service.rows(
    `WITH made AS (INSERT INTO project (id, type, name) VALUES (gen_random_uuid(), 'team', 'By people') RETURNING id),
       named AS (INSERT INTO project_external_key (issuer, key, project_id) SELECT $1, $2, id FROM made),
       given AS (INSERT INTO project_member (project_id, user_id, role) SELECT id, $3::uuid, $4 FROM made)
     SELECT 1`,
    [partner.issuer, key, user?.id, role],
  );
}

const ASSIGNING: Members = {
  projects: { mayAssign: ['acme-*', 'exact'], roles: [VIEWER, EDITOR], create: true },
};
const ADMINISTERING: Members = { projects: { create: true } };
const twoKeyed = () => Partner.create({ issuer: 'https://two-keys.example', audience: BASE_URL });

describeOnEachDatabase('the claim of projects', (database) => {
  const assigning = new TrustedPartner(ASSIGNING);
  const administering = new TrustedPartner(ADMINISTERING);
  const renamed = new TrustedPartner({ projects: { create: true, claim: 'https://acme.example/teams' } });
  const rival = new TrustedPartner(ADMINISTERING);
  const silent = new TrustedPartner();
  const partners = [assigning, administering, renamed, rival, silent];
  /** Two keys of one issuer. */
  const [wide, narrow] = [twoKeyed(), twoKeyed()];
  const ofOneIssuer = [
    wide.staticEntry(ADMINISTERING),
    narrow.staticEntry({ projects: { mayAssign: ['acme-*'], roles: [VIEWER] } }),
  ];
  const service = TestService.forBlock(database, {
    trustedKeys: [...partners.map(({ entry }) => entry), ...ofOneIssuer],
    environment: { SVC_ADMIN_ENABLED: 'true' },
  });
  const setKey = (input: { project: string; issuer: string; key: string }) =>
    service
      .part(Administration)
      .perform(service.part(ProjectOperations), 'setKey', input, { id: 'joining', way: 'service' });
  let keys = 0;

  const send = (way: EntryPath, partner: TrustedPartner, sub: string, claims: Members): Promise<Response> => {
    return way.send(service, partner.token({ sub, ...claims }), () => silent.token({ sub: newSub() }));
  };

  const issuerOf = (by: 'claim' | 'people') => (by === 'claim' ? assigning.issuer : null);
  /** The lists of the event that have a project. */
  const recordedChanges = async (answer: Response, id: string): Promise<string[]> => {
    const rows = await eventsOf(service, answer);
    const lists = rows.find(({ name }) => name === `${EVENT}projects-updated`)?.payload ?? {};
    return Object.keys(lists).filter((list) => Array.isArray(lists[list]) && lists[list].includes(id));
  };

  describe.each(WAYS)('by $name', (way) => {
    it.each(CASES)('$title', async (one) => {
      const [sub, key] = [newSub(), `acme-${++keys}`];
      expect(outcomeOf(await send(way, assigning, sub, {}))).toBe('accepted');
      if (one.own !== undefined) await givenByPeople(service, assigning, key, sub, one.own);
      if (one.earlier !== undefined) await send(way, assigning, sub, { projects: named(one.earlier)(key) });
      const [token, companion] = [
        assigning.token({ sub, projects: one.claim?.(key) }),
        silent.token({ sub: newSub() }),
      ];
      const foreseen = await explain(service, requestBy(way, token, companion));

      const answer = await way.send(service, token, () => companion);

      expect(outcomeOf(answer)).toBe('accepted');
      const found = (await memberships(service, assigning, sub)).find((each) => each.key === key);
      expect(found).toEqual(one.after && { key, role: one.after.role, issuer: issuerOf(one.after.by) });
      const changes = one.change === undefined ? [] : [one.change];
      expect(await recordedChanges(answer, await projectOf(service, assigning, key))).toEqual(changes);
      const phrases = foreseen.tokens.find(({ party }) => party === (way.party ?? 'subject'))?.user?.projects;
      expect(phrases?.filter((phrase) => phrase.split(' ').includes(key))).toEqual(
        changes.map((change) => expect.stringContaining(PHRASES[change])),
      );
    });
  });

  it.each(MALFORMED)('a claim that is malformed is refused: %s', async (_, projects) => {
    const answer = await service.exchange({ subject_token: assigning.token({ sub: newSub(), projects }) });
    expect([answer.status, await answer.text()]).toEqual([400, INVALID_CLAIMS]);
  });

  describe.each(BOTH_FLOWS)('a claim, by $name', (way) => {
    it.each(MALFORMED)('[P.projects] %s is not read without the policy', async (_, projects) => {
      const sub = newSub();
      expect(outcomeOf(await send(way, silent, sub, { projects }))).toBe('accepted');
      expect(await memberships(service, silent, sub)).toEqual([]);
    });

    it('is read by the name that the entry gives it, and by no other', async () => {
      const sub = newSub();
      const teams = { 'https://acme.example/teams': ['one:project:viewer'] };
      await send(way, renamed, sub, { projects: 'not looked at', ...teams });
      expect((await memberships(service, renamed, sub)).map(({ key }) => key)).toEqual(['one']);
    });
  });

  it('[D134] a token with an unchanged claim needs no transaction, until its memberships are changed', async () => {
    const [sub, key] = [newSub(), `acme-${++keys}`];
    const again = (claims: Members = {}) =>
      takesTransaction(service, async () => {
        const token = assigning.token({ sub, projects: named(EDITOR)(key), ...claims });
        expect(outcomeOf(await service.exchange({ subject_token: token }))).toBe('accepted');
      });
    expect([await again(), await again(), await again({ projects: undefined })]).toEqual([
      true,
      false,
      false,
    ]);
    const id = await projectOf(service, assigning, key);
    for (const change of [
      `UPDATE project_member SET role = 'project:viewer' WHERE project_id = $1`,
      'DELETE FROM project_member WHERE project_id = $1',
    ]) {
      await service.rows(change, [id]);
      expect([await again(), await again()]).toEqual([true, false]);
      expect((await memberships(service, assigning, sub)).map(({ role }) => role)).toEqual([EDITOR]);
    }
    await service.rows('DELETE FROM project WHERE id = $1', [id]);
    expect(await again()).toBe(true);
    expect((await memberships(service, assigning, sub)).map((one) => one.key)).toEqual([key]);
  });

  it('[D134] the last administrator of a project stays with a warning, until there is another one', async () => {
    const [first, second] = [newSub(), newSub()];
    const claim = (sub: string, projects: string[]) =>
      service.accessToken({ subject_token: administering.token({ sub, projects }) });
    const warnings = () => service.log.filter(({ reason }) => reason === 'project_administrator_kept').length;
    await claim(first, [`owned:${ADMIN}`]);
    await claim(first, []);
    await claim(first, [`owned:${VIEWER}`]);
    expect((await memberships(service, administering, first)).map(({ role }) => role)).toEqual([ADMIN]);
    expect(warnings()).toBe(2);
    await claim(second, [`owned:${ADMIN}`]);
    await claim(first, [`owned:${VIEWER}`]);
    expect((await memberships(service, administering, first)).map(({ role }) => role)).toEqual([VIEWER]);
    expect(warnings()).toBe(2);
  });

  it('[D134] two issuers with the same keys have two projects, and one once the operator has joined them', async () => {
    const partners = [administering, rival] as const;
    const subs = [newSub(), newSub()];
    const claimAll = async () => {
      for (const [index, partner] of partners.entries())
        await service.accessToken({
          subject_token: partner.token({ sub: subs[index], projects: [`shared:${VIEWER}`] }),
        });
    };
    const idsOf = async () => Promise.all(partners.map((partner) => projectOf(service, partner, 'shared')));
    await claimAll();
    const [one = '', other = ''] = await idsOf();
    expect(new Set([one, other, '']).size).toBe(3);

    const input = { project: one, issuer: rival.issuer, key: 'shared' };
    await setKey(input);
    await claimAll();

    expect(await idsOf()).toEqual([one, one]);
    const members = await service.rows<{ issuer: string }>(
      'SELECT issuer FROM project_member WHERE project_id = ANY($1) ORDER BY issuer',
      [[one, other]],
    );
    expect(members.map(({ issuer }) => issuer).toSorted()).toEqual(
      [administering.issuer, rival.issuer].toSorted(),
    );
  });
});

describeOnEachDatabase('the bounds of the claim of projects', (database) => {
  const clock = new TestClock();
  const entry = () => new TrustedPartner(ADMINISTERING);
  const [hoarding, other, launching] = [entry(), entry(), entry()];
  const trustedKeys = [hoarding, other, launching].map((partner) => partner.entry);
  const service = TestService.forBlock(database, { trustedKeys, clock });
  const created = (customer: string, count = 50) =>
    Array.from({ length: count }, (_, index) => `${customer}-${index}:${ADMIN}`);
  const tokenOf = (partner: TrustedPartner, claims: Members) => {
    const iat = Math.floor(clock.nowMs() / 1000);
    return partner.token({ iat, exp: iat + 50, ...claims });
  };

  it('[D134] claims of all issuers make a user a member of at most 100 projects, and tokens without new ones are accepted', async () => {
    const person = { sub: newSub(), email: `${newSub()}@partner.example` };
    const answers: number[] = [];
    const claim = async (partner: TrustedPartner, projects?: string[]) =>
      answers.push(
        (await service.exchange({ subject_token: tokenOf(partner, { ...person, projects }) })).status,
      );
    for (const customer of ['a', 'b', 'c', 'd']) await claim(hoarding, created(customer));
    await claim(other, created('a', 1));
    await claim(hoarding);
    await claim(hoarding, created('b'));
    expect(answers).toEqual([200, 200, 400, 400, 400, 200, 200]);
    expect(await memberships(service, hoarding, person.sub)).toHaveLength(100);
  });

  it.each(BOTH_FLOWS)('an entry creates 100 projects a minute: $name', async (way) => {
    const claim = (name: string, projects: string[]) => {
      const person = { sub: `${way.name} ${name}`, email: `${name}@${way.flow}.example` };
      return way.send(service, tokenOf(launching, { ...person, projects }), () => '');
    };
    const news = (customer: string) => created(`${way.name} ${customer}`);
    expect(outcomeOf(await claim('ada', news('a')))).toBe('accepted');
    clock.advance(20);
    expect(outcomeOf(await claim('bob', news('b')))).toBe('accepted');

    const refused = await claim('cleo', [`${way.name} c:${VIEWER}`]);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '40']);
    expect(await refused.json()).toMatchObject({ error: 'too_many_requests' });
    expect(await linkedUser(service, launching.issuer, `${way.name} cleo`)).toBeUndefined();
    expect(outcomeOf(await claim('dora', news('a')))).toBe('accepted');

    clock.advance(40);
    expect(outcomeOf(await claim('cleo', [`${way.name} c:${VIEWER}`]))).toBe('accepted');
    clock.advance(60);
  });
});

describeOnPostgresql('[D134] 50 first logins of one new customer at once', (database) => {
  const partner = new TrustedPartner({ projects: { create: true } });
  const service = TestService.forBlock(database, { trustedKeys: [partner.entry] });
  it('[D134] make one project with 50 members, and wait for one another in no ring', async () => {
    const projects = ['customer-b', 'customer-a'].map((key) => `${key}:${EDITOR}`);
    const login = (_: unknown, index: number) => {
      const inOrder = index % 2 === 0 ? projects : projects.toReversed();
      const token = partner.token({ sub: newSub(), projects: inOrder });
      return index % 3 === 0 ? service.embed({ token }) : service.exchange({ subject_token: token });
    };
    const deadlocks = await deadlocksDuring(service, async () => {
      const answers = await Promise.all(Array.from({ length: 50 }, login));
      expect(answers.map(outcomeOf)).toEqual(answers.map(() => 'accepted'));
    });
    expect(deadlocks).toBe(0);
    const counts = await service.rows(
      `SELECT name, count(*)::int AS members FROM project JOIN project_member ON project_id = project.id
       WHERE type = 'team' GROUP BY project.id ORDER BY name`,
    );
    expect(counts).toEqual([
      { name: 'customer-a', members: 50 },
      { name: 'customer-b', members: 50 },
    ]);
  });

  it('[D134] two administrators who lose that at once leave one behind', async () => {
    const subs = [newSub(), newSub()];
    const claim = (sub: string, role: string) =>
      service.accessToken({ subject_token: partner.token({ sub, projects: [`led:${role}`] }) });
    for (let round = 0; round < 10; round++) {
      for (const sub of subs) await claim(sub, ADMIN);
      await Promise.all(subs.map((sub) => claim(sub, VIEWER)));
      const [row] = await service.rows<{ administrators: number }>(
        `SELECT count(*)::int AS administrators FROM project_member JOIN project ON id = project_id
         WHERE name = 'led' AND role = 'project:admin'`,
      );
      expect([round, row?.administrators]).toEqual([round, 1]);
    }
  });
});
