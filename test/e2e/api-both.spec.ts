// Compares access tokens that need the rights of both actor and subject with what each user may do alone.
import type { GlobalRole } from '../../src/users/role.js';
import { GLOBAL_ROLES } from '../../src/users/role.js';
import type { ProjectRole } from '../../src/workspace/rights/rights.js';
import { PROJECT_ROLES } from '../../src/workspace/rights/rights.js';
import type { ApiAnswer } from '../support/api-client.js';
import { ApiClient } from '../support/api-client.js';
import { RECIPES, requestFor } from '../support/api-recipes.js';
import { ApiWorld } from '../support/api-world.js';
import { eventsOf } from '../support/audit.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { changeUser } from '../support/local-users.js';
import type { Random } from '../support/random.js';
import { randomFrom } from '../support/random.js';
import { isMainScope } from '../support/series.js';
import { TestService } from '../support/test-service.js';

const SEED = Number(process.env['TEST_SEED'] ?? 20261122);
/** The first test makes thousands of calls, so `npm test` has fewer pairs. */
const PAIRS = isMainScope ? 6 : 14;
const ROLES = GLOBAL_ROLES.filter((role) => role !== 'global:owner');

/** A user with a global role. A project role is the user's role in every project that recipes create. */
interface Person {
  readonly id: string;
  readonly role: GlobalRole;
  readonly projectRole?: ProjectRole;
}

/** Creates projects in which both users of the pair have their project roles. */
class PairWorld extends ApiWorld {
  pair: readonly Person[] = [];

  override async createProject(): Promise<string> {
    const projectId = await super.createProject();
    for (const { id, projectRole } of this.pair)
      if (projectRole !== undefined) await this.addMember(projectId, id, projectRole);
    return projectId;
  }

  async createPerson(random: Random): Promise<Person> {
    // Two of three roles are the member's, because only a member's rights depend on the project role.
    const role = random.pick([...ROLES, 'global:member'] as const);
    const projectRole = random.pick([...PROJECT_ROLES, 'none'] as const);
    const id = await this.createUser(role);
    return projectRole === 'none' ? { id, role } : { id, role, projectRole };
  }
}

describeOnAnyDatabase(`[P.rights][D30] rights of both users, random pairs (seed ${SEED})`, (database) => {
  const service = TestService.forBlock(database);
  const api = ApiClient.forBlock(service);
  let world: PairWorld;

  beforeAll(async () => {
    world = new PairWorld(service);
    await world.createParties();
  });
  const bothOf = (actor: Person, subject: Person) => world.token(subject.id, actor.id, { rights: 'both' });

  it('[D30] an operation is allowed only if both users may perform it; otherwise the stricter refusal applies', async () => {
    const random = randomFrom(SEED);
    const outcomes = new Set<number>();
    for (let count = 0; count < PAIRS; count++) {
      const [actor, subject] = [await world.createPerson(random), await world.createPerson(random)];
      world.pair = [actor, subject];
      const tokens = {
        actor: await world.token(actor.id),
        subject: await world.token(subject.id),
        both: await bothOf(actor, subject),
      };
      for (const operation of api.operations) {
        const statusOf = async (token: string) => {
          const { path, body } = await requestFor(RECIPES, operation, world);
          return (await api.call({ method: operation.method, path, body, token })).status;
        };
        const alone = [await statusOf(tokens.actor), await statusOf(tokens.subject)];
        const status = await statusOf(tokens.both);
        // A success is less than 403, which is less than 404.
        expect([actor, subject, operation.method, operation.path, status]).toEqual([
          actor,
          subject,
          operation.method,
          operation.path,
          Math.max(...alone),
        ]);
        outcomes.add(status);
      }
    }
    expect(outcomes).toEqual(new Set([200, 201, 204, 403, 404]));
  });

  it('[D30] a token of two administrators can change neither account, but a third while both keep their rights', async () => {
    const [one, other] = [await world.createUser('global:admin'), await world.createUser('global:admin')];
    const third = await world.createUser();
    const token = await world.token(one, other, { rights: 'both' });
    for (const id of [one, other]) {
      const answer = await api.patch(`/api/v1/users/${id}`, token, { enabled: false });
      expect([answer.status, answer.body.error]).toEqual([409, 'own_account']);
    }
    expect((await api.patch(`/api/v1/users/${third}`, token, { enabled: false })).status).toBe(200);
    await changeUser(service, one, { role: 'global:member' });
    expect((await api.patch(`/api/v1/users/${third}`, token, { enabled: true })).status).toBe(404);
    await changeUser(service, one, { role: 'global:admin', enabled: false });
    expect((await api.patch(`/api/v1/users/${third}`, token, { enabled: true })).status).toBe(401);
  });

  it('[D30] a new workflow goes into the actor’s personal project if both may add to it; otherwise a project must be named', async () => {
    const member = { id: world.idOf('stranger'), role: 'global:member' } as const;
    const admin = { id: world.idOf('administrator'), role: 'global:admin' } as const;
    const make = async (actor: Person, subject: Person, projectId?: string): Promise<ApiAnswer> =>
      api.post('/api/v1/workflows', await bothOf(actor, subject), { name: 'New', projectId });
    const made = await make(member, admin);
    expect([made.status, made.body.projectId, made.body.canEdit]).toEqual([
      201,
      await world.personalProjectOf(member.id),
      true,
    ]);
    const refused = await make(admin, member);
    expect([refused.status, refused.body.error]).toEqual([400, 'bad_request']);
    expect(refused.body.message).toMatch(/^projectId must be given: /);
    const named = await make(admin, member, await world.personalProjectOf(member.id));
    expect(named.status).toBe(201);
    const elsewhere = await make(admin, member, await world.personalProjectOf(admin.id));
    expect(elsewhere.status).toBe(404);
  });

  it('[D30] a project created with a token of both has the actor as its only administrator', async () => {
    const [actor, subject] = [world.idOf('administrator'), world.idOf('owner')];
    const token = await world.token(subject, actor, { rights: 'both' });
    const { body } = await api.post('/api/v1/projects', token, { name: 'Team' });
    expect(
      await service.rows('SELECT user_id, role FROM project_member WHERE project_id = $1', [body.id]),
    ).toEqual([{ user_id: actor, role: 'project:admin' }]);
  });

  it('[P.rights] if actor and subject are one user, only that user’s rights are checked', async () => {
    const id = world.idOf('editor');
    const [alone, both] = [await world.token(id), await world.token(id, id, { rights: 'both' })];
    for (const list of ['projects', 'workflows'])
      expect(await api.all(`/api/v1/${list}`, both)).toEqual(await api.all(`/api/v1/${list}`, alone));
    expect((await api.post('/api/v1/workflows', both, { name: 'Own' })).status).toBe(201);
  });

  it('[P.rights] scopes also limit a token that needs both users’ rights', async () => {
    const [actor, subject] = [world.idOf('administrator'), world.idOf('owner')];
    const token = await world.token(subject, actor, { rights: 'both', grantedScopes: ['workflow:read'] });
    expect((await api.get('/api/v1/workflows', token)).status).toBe(200);
    expect((await api.get('/api/v1/users', token)).body.error).toBe('insufficient_scope');
  });

  it('[P.rights] /rest/me says whose rights are required', async () => {
    const [actor, subject] = [world.idOf('editor'), world.idOf('viewer')];
    const told = async (token: string) => {
      const me = await service.fetch('/rest/me', { headers: { authorization: `Bearer ${token}` } });
      const { user, onBehalfOf, delegatedRights } = (await me.json()) as Record<
        string,
        { id: string } | null
      >;
      return [user?.id, onBehalfOf?.id, delegatedRights];
    };
    expect(await told(await world.token(subject, actor, { rights: 'both' }))).toEqual([
      actor,
      subject,
      'both',
    ]);
    expect(await told(await world.token(subject, actor))).toEqual([actor, subject, 'actor']);
    expect(await told(await world.token(subject))).toEqual([subject, undefined, null]);
  });

  it('[B.calls] calls of actor and subject are recorded with both users, and share a limit of their own', async () => {
    await service.restart({ environment: { SVC_API_CALLS_PER_MINUTE: '3' } });
    world = new PairWorld(service, 'counted');
    const [actor, subject] = [await world.createUser(), await world.createUser()];
    const [both, plain] = [
      await world.token(subject, actor, { rights: 'both' }),
      await world.token(subject, actor),
    ];
    const answers = [];
    for (const token of [both, plain, both, plain]) answers.push(await api.get('/api/v1/projects', token));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    const rows = await eventsOf(service, answers[0]?.headers.get('x-request-id') ?? '');
    expect(rows.map((row) => [row.subjectUserId, row.actorUserId])).toEqual([[subject, actor]]);
    for (const alone of [actor, subject])
      expect((await api.get('/api/v1/projects', await world.token(alone))).status).toBe(200);
  });
});
