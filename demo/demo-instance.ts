// Sets up a temporary instance as an operator would (keys, licence, users, workflows), and starts it.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Person } from './cast.js';
import { ALICE, OWNER, SERVICE_ACCOUNT, WORKFLOW_NAMES, workflowsNamed } from './cast.js';
import { freePort } from './free-port.js';
import { Partner } from './partner.js';
import type { ServiceSurroundings } from './service-process.js';
import { runAdmin, ServiceProcess } from './service-process.js';

const ISSUER = 'https://login.fernwick.example';
const LICENSED_FEATURES = 'token-exchange,project-members,credentials-list';

export class DemoInstance {
  private constructor(
    readonly partner: Partner,
    readonly service: ServiceProcess,
    /** The instance's ids of the users that were created in advance. */
    private readonly userIds: Map<Person, string>,
  ) {}

  /**
   * @param surroundings the processes' folder and environment, to which the service's settings are added
   * @param partnerOrigin the partner page's origin, the only one that may frame the instance
   * @param tell receives progress messages
   */
  static async start(
    surroundings: ServiceSurroundings,
    partnerOrigin: string,
    tell: (doing: string) => void,
  ): Promise<DemoInstance> {
    const { directory } = surroundings;
    const baseUrl = `http://localhost:${await freePort()}`;
    const partner = Partner.create({ issuer: ISSUER, kid: 'fernwick-1', audience: baseUrl });
    const environment = { ...surroundings.environment, ...settings(directory, baseUrl) };
    const setUp = { ...surroundings, environment };

    tell('a vendor key, a licence, and the partner’s key');
    // The service's settings are left out, because their files do not exist yet.
    await issueLicense(surroundings);
    await trust(partner, directory, partnerOrigin);
    tell('users and their workflows');
    const userIds = await fill(setUp);
    tell('the service, on the embedded database');
    return new DemoInstance(partner, await ServiceProcess.start(setUp, baseUrl), userIds);
  }

  get baseUrl(): string {
    return this.service.baseUrl;
  }

  /** The instance's id of a user that was created in advance. Throws for other people. */
  userIdOf(person: Person): string {
    const id = this.userIds.get(person);
    if (id === undefined) throw new Error(`${person.givenName} was not made beforehand.`);
    return id;
  }
}

/** The service's settings, as an operator would set them in its environment. */
function settings(directory: string, baseUrl: string): Record<string, string> {
  return {
    SVC_BASE_URL: baseUrl,
    SVC_HOST: '127.0.0.1',
    SVC_PORT: new URL(baseUrl).port,
    SVC_DATA_DIR: join(directory, 'data'),
    SVC_LICENSE_FILE: join(directory, 'license.jws'),
    SVC_LICENSE_PUBLIC_KEY_FILE: join(directory, 'vendor-public.pem'),
    SVC_ENV_FEAT_TOKEN_EXCHANGE: 'true',
    SVC_TOKEN_EXCHANGE_STRICT: 'true',
    SVC_TOKEN_EXCHANGE_TRUSTED_KEYS_FILE: join(directory, 'trusted-keys.json'),
    SVC_TOKEN_EXCHANGE_ENABLED: 'true',
    SVC_EMBED_LOGIN_ENABLED: 'true',
    // The partner page can exceed the default of 20 a minute.
    SVC_TOKEN_EXCHANGE_EMBED_LOGIN_PER_MINUTE: '120',
  };
}

async function issueLicense(surroundings: ServiceSurroundings): Promise<void> {
  const { directory } = surroundings;
  const privateKey = join(directory, 'vendor-private.pem');
  const publicKey = join(directory, 'vendor-public.pem');
  const terms = ['--features', LICENSED_FEATURES, '--days', '30'];
  await runAdmin(surroundings, ['license', 'keygen', '--out-private', privateKey, '--out-public', publicKey]);
  const out = join(directory, 'license.jws');
  await runAdmin(surroundings, ['license', 'issue', '--private-key', privateKey, ...terms, '--out', out]);
}

/** Under the strict policy, everything that is not listed here is refused. */
async function trust(partner: Partner, directory: string, origin: string): Promise<void> {
  const policy = {
    name: 'Fernwick',
    origins: [origin],
    allowedRoles: ['global:member', 'global:admin'],
    emailDomains: ['bakery.example', 'fernwick.example'],
    scopes: ['workflow:read'],
    actFor: [ISSUER],
    // The service account has its own workflows, which no customer sees.
    rights: 'actor',
  };
  const entry = partner.staticEntry(policy);
  await writeFile(join(directory, 'trusted-keys.json'), JSON.stringify([entry], null, 2));
}

/** Creates the users and imports their workflows, before the start, because a running service locks its data. */
async function fill(surroundings: ServiceSurroundings): Promise<Map<Person, string>> {
  const userIds = new Map<Person, string>();
  for (const person of [OWNER, ALICE, SERVICE_ACCOUNT]) {
    userIds.set(person, await createUser(surroundings, person));
    await importWorkflows(surroundings, person);
  }
  return userIds;
}

async function createUser(surroundings: ServiceSurroundings, person: Person): Promise<string> {
  const names = ['--given-name', person.givenName, '--family-name', person.familyName];
  const command = ['users', 'create', '--email', person.email, ...names, '--role', person.role];
  const printed = await runAdmin(surroundings, command);
  const { id } = JSON.parse(printed) as { id?: unknown };
  if (typeof id !== 'string' || id === '') throw new Error(`"users create" printed no id:\n${printed}`);
  return id;
}

async function importWorkflows(surroundings: ServiceSurroundings, person: Person): Promise<void> {
  const file = join(surroundings.directory, `workflows-of-${person.sub}.json`);
  await writeFile(file, JSON.stringify(workflowsNamed(WORKFLOW_NAMES.get(person) ?? []), null, 2));
  await runAdmin(surroundings, ['workflows', 'import', '--file', file, '--owner-email', person.email]);
}
