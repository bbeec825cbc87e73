// A small instance with a user of every role, and fresh objects for every call of the public API.
import { randomUUID } from 'node:crypto';
import { Transactions } from '../../src/platform/database/transaction.js';
import { KeyRing } from '../../src/platform/secrets/key-ring.js';
import type { Grants } from '../../src/token-exchange/exchange/issuance.planner.js';
import { SessionService } from '../../src/token-exchange/login/session.service.js';
import { AccessTokenService } from '../../src/token-exchange/tokens/access-token.service.js';
import { SigningKeyService } from '../../src/token-exchange/tokens/signing-key.service.js';
import type { GlobalRole } from '../../src/users/role.js';
import { UserRepository } from '../../src/users/user.repository.js';
import { CredentialService } from '../../src/workspace/credentials/credential.service.js';
import type { ProjectRole } from '../../src/workspace/rights/rights.js';
import { createUser } from './local-users.js';
import type { TestService } from './test-service.js';

/** A user who acts, with a global role, and a role in the project or none. */
export interface Party {
  readonly name: string;
  readonly role: GlobalRole;
  readonly projectRole?: ProjectRole;
}

export const PARTIES: readonly Party[] = [
  { name: 'owner', role: 'global:owner' },
  { name: 'administrator', role: 'global:admin' },
  { name: 'project administrator', role: 'global:member', projectRole: 'project:admin' },
  { name: 'editor', role: 'global:member', projectRole: 'project:editor' },
  { name: 'viewer', role: 'global:member', projectRole: 'project:viewer' },
  { name: 'stranger', role: 'global:member' },
];

export const BASIC_AUTH = { user: 'ada', password: 'correct horse' };

export class ApiWorld {
  private readonly ids = new Map<string, string>();
  private count = 0;

  /** @param label tells the e-mail addresses of worlds on one database apart */
  constructor(
    private readonly service: TestService,
    private readonly label = 'user',
  ) {}

  /** Makes a world with all parties for all tests of a block. */
  static forBlock(service: TestService, label?: string): ApiWorld {
    const world = new ApiWorld(service, label);
    beforeAll(() => world.createParties());
    return world;
  }

  async createParties(): Promise<void> {
    for (const { name, role } of PARTIES) this.ids.set(name, await this.createUser(role));
  }

  idOf(party: string): string {
    const id = this.ids.get(party);
    if (id === undefined) throw new Error(`there is no ${party}`);
    return id;
  }

  /** An access token of a user, or of an actor who acts on behalf of one; with nothing granted it is as most are. */
  async token(userId: string, actorUserId?: string, granted: Grants = {}): Promise<string> {
    const issuedAt = Math.floor(Date.now() / 1000);
    const accessTokens = this.service.part(AccessTokenService);
    const { audience: iss } = accessTokens;
    const partner = 'https://partner.example';
    const { subjectGeneration, actorGeneration } = await this.generations(userId, actorUserId);
    const claims = {
      ...{ iss, aud: granted.audience ?? iss, sub: userId, jti: randomUUID() },
      ...{ iat: issuedAt, exp: issuedAt + 600, client_id: partner },
      act: actorUserId === undefined ? undefined : { sub: actorUserId },
      scope: granted.grantedScopes?.join(' '),
      delegated_rights: granted.rights,
      ...{ vouched_by: [{ iss: partner, kid: 'api-world' }], logins: [] },
      ...{ access_generation: subjectGeneration, actor_access_generation: actorGeneration },
    };
    return accessTokens.sign(claims, this.service.part(SigningKeyService).current());
  }

  /** The present access generations of the users. */
  private async generations(subjectUserId: string, actorUserId?: string) {
    const find = async (id?: string) =>
      id === undefined ? undefined : (await this.service.part(UserRepository).findById(id))?.accessGeneration;
    return { subjectGeneration: await find(subjectUserId), actorGeneration: await find(actorUserId) };
  }

  tokenOf(party: string, granted?: Grants): Promise<string> {
    return this.token(this.idOf(party), undefined, granted);
  }

  /** The `Cookie` header of a new session. */
  async sessionOf(party: string): Promise<string> {
    const userId = this.idOf(party);
    const login = {
      userId,
      accessGeneration: (await this.generations(userId)).subjectGeneration,
      loginOrigin: undefined,
      cookies: undefined,
      requestId: 'api-world',
      signedBy: [],
      externalLogin: { sub: userId, iat: 0 },
    };
    const { setCookie } = await this.service
      .part(Transactions)
      .run((transaction) => this.service.part(SessionService).open(transaction, login));
    return setCookie.slice(0, setCookie.indexOf(';'));
  }

  createUser(role: GlobalRole = 'global:member', email = this.freshEmail()): Promise<string> {
    return createUser(this.service, { email, role, givenName: 'Ada', familyName: 'Lovelace' });
  }

  freshEmail(): string {
    return `${this.label}-${++this.count}@partner.example`;
  }

  /** A team's project in which every party has its role. */
  async createProject(): Promise<string> {
    const id = await this.insert('project', "(id, type, name) VALUES (gen_random_uuid(), 'team', 'Team')");
    for (const { name, projectRole } of PARTIES)
      if (projectRole !== undefined) await this.addMember(id, this.idOf(name), projectRole);
    return id;
  }

  async addMember(projectId: string, userId: string, role: ProjectRole): Promise<void> {
    await this.service.rows('INSERT INTO project_member VALUES ($1, $2, $3)', [projectId, userId, role]);
  }

  /** Users who are members of a project. */
  async fillMembers(projectId: string, count: number): Promise<void> {
    await this.service.rows(
      `WITH made AS (
         INSERT INTO user_account (id, email, normalized_email, role)
         SELECT id, id || '@fill.example', id || '@fill.example', 'global:member'
         FROM (SELECT gen_random_uuid() AS id FROM generate_series(1, $2::int)) AS new RETURNING id
       ) INSERT INTO project_member SELECT $1, id, 'project:viewer' FROM made`,
      [projectId, count],
    );
  }

  /** Adds credentials to a user's personal project. Their data cannot be decrypted. */
  async fillCredentials(userId: string, count: number): Promise<void> {
    await this.service.rows(
      `INSERT INTO credential (id, project_id, name, type, sealed_data)
       SELECT gen_random_uuid(), project_id, 'n', 'httpBasicAuth', '' FROM project_member, generate_series(1, $2::int)
       WHERE user_id = $1`,
      [userId, count],
    );
  }

  /** Workflows of a user's personal project. */
  async fillWorkflows(userId: string, count: number): Promise<void> {
    await this.service.rows(
      `INSERT INTO workflow (id, project_id, name, nodes, connections)
       SELECT gen_random_uuid(), id, 'n', '[]', '{}' FROM project, generate_series(1, $2::int)
       WHERE personal_owner_id = $1`,
      [userId, count],
    );
  }

  /** Adds team projects with the user as a member. */
  async fillProjects(userId: string, count: number): Promise<void> {
    await this.service.rows(
      `WITH made AS (
         INSERT INTO project (id, type, name)
         SELECT gen_random_uuid(), 'team', 'n' FROM generate_series(1, $2::int) RETURNING id
       ) INSERT INTO project_member SELECT id, $1, 'project:admin' FROM made`,
      [userId, count],
    );
  }

  createWorkflow(projectId: string, name = 'Workflow'): Promise<string> {
    return this.insert(
      'workflow',
      `(id, project_id, name, nodes, connections) VALUES (gen_random_uuid(), $1, $2, '[]', '{}')`,
      [projectId, name],
    );
  }

  /** Made by the service itself, so that its data is sealed as production seals it. */
  async createCredential(projectId: string, data: Record<string, unknown> = BASIC_AUTH): Promise<string> {
    const draft = { projectId, name: 'Credential', type: 'httpBasicAuth', data };
    return (await this.service.part(CredentialService).create(draft)).id;
  }

  /** The decrypted data of a credential. */
  async credentialData(id: string): Promise<unknown> {
    const [row] = await this.service.rows<{ sealed: Buffer }>(
      'SELECT sealed_data AS sealed FROM credential WHERE id = $1',
      [id],
    );
    if (row === undefined) throw new Error('there is no such credential');
    return JSON.parse(this.service.part(KeyRing).unseal(row.sealed, `credential:${id}`).toString());
  }

  personalProjectOf(userId: string): Promise<string> {
    return this.idFrom('SELECT id FROM project WHERE personal_owner_id = $1', [userId]);
  }

  private insert(table: string, rest: string, values: unknown[] = []): Promise<string> {
    return this.idFrom(`INSERT INTO ${table} ${rest} RETURNING id`, values);
  }

  private async idFrom(sql: string, values: unknown[]): Promise<string> {
    const [row] = await this.service.rows<{ id: string }>(sql, values);
    if (row === undefined) throw new Error('there is no such row');
    return row.id;
  }
}
