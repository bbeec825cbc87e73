// The OpenAPI 3.1 description of the public API, made from the controllers themselves when it is first asked for.
import type { INestApplication } from '@nestjs/common';
import { Injectable } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { SESSION_DESCRIPTION } from '../../access/session.description.js';
import { MEDIA_TYPES, PublicFile } from '../../platform/http/public-file.js';
import { VERSION } from '../../platform/version.js';
import { WorkspaceModule } from '../workspace.module.js';
import { describeCredentialTypes } from './credential-bodies.js';
import { giveExamples } from './examples.js';
import { CREDENTIAL_TYPE_NAMES } from '../credentials/credential-types.js';

const DESCRIPTION =
  'Projects, their members, workflows and credentials of this instance. Every call is authorised by the acting user: ' +
  'the actor of an access token where it has one, else its subject; where the token says delegated_rights: both, by actor and ' +
  'subject alike. A token that is limited to scopes needs the one that an operation names, which is that of the right. What ' +
  "the user may not see answers 404. A session's " +
  "request other than GET needs the instance's own Origin. Lists are pages: follow nextCursor until it is null.";

const BEARER =
  'An access token, which this instance issues: POST an external JWT to /rest/auth/oauth/token (token exchange, RFC 8693), as ' +
  '/.well-known/oauth-authorization-server describes. It is valid for expires_in seconds; then exchange another JWT.';
const SESSION =
  'The cookie of an embedded login, for the pages of this instance itself. They say whom they show in X-Session-User, by the ' +
  'user.id of /rest/me, and get 409 session_of_another_user if another user has signed in meanwhile.';

const TAGS: Readonly<Record<string, string>> = {
  Tokens: 'How a partner comes in: access tokens for programs, sessions for browsers.',
  Session: 'Who is signed in, and signing out.',
  Users: 'The users of the instance, and their global roles.',
  Projects: 'Personal projects and those of teams, in which everything lies.',
  'Members of projects': 'Who belongs to a project of a team, in which role.',
  Workflows: 'Workflows as definitions; nothing here runs them.',
  'Audit events': 'What has happened: who came in, who was refused and why, what was changed.',
  Credentials: 'Secrets that workflows use: they go in and never come out.',
};

interface Subject {
  readonly application: INestApplication;
  readonly baseUrl: string;
  /** Paths that other modules describe by themselves. */
  readonly otherPaths: object;
}

/**
 * Nothing of it is secret: it is the same for all, and answered without credentials. It depends only on classes, so it never
 * changes while the process runs. The first request builds it, since it would delay every start and most instances never need it.
 */
@Injectable()
export class ApiDescription {
  private subject: Subject | undefined;
  private publication: Promise<PublicFile> | undefined;

  /** To be called once the application has its routes. */
  describe(application: INestApplication, { baseUrl, otherPaths }: Omit<Subject, 'application'>): void {
    this.subject = { application, baseUrl, otherPaths };
  }

  /** The description as JSON. Made once, however many ask for it at the same moment. */
  async published(): Promise<PublicFile> {
    if (this.subject === undefined) throw new Error('there is nothing to describe yet');
    this.publication ??= publish(this.subject).catch((error: unknown) => {
      // The next one to ask tries again.
      this.publication = undefined;
      throw error;
    });
    return this.publication;
  }
}

async function publish(subject: Subject): Promise<PublicFile> {
  const document = documentOf(subject);
  closeBodies(document);
  describeCredentialTypes(document);
  giveExamples(document);
  describePathParameters(document);
  linkOperations(document);
  Object.assign(document.paths, SESSION_DESCRIPTION, subject.otherPaths);
  document.tags = usedTags(document);
  return new PublicFile(Buffer.from(JSON.stringify(document)), MEDIA_TYPES.json);
}

function documentOf({ application, baseUrl }: Subject): OpenAPIObject {
  const outline = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Instance API')
    .setVersion(VERSION)
    .setDescription(DESCRIPTION)
    .addServer(baseUrl)
    .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
    .addBearerAuth({ type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: BEARER })
    .addCookieAuth('__Host-svc-session', { type: 'apiKey', in: 'cookie', description: SESSION }, 'session')
    .build();
  // By the library it would get an empty e-mail address.
  outline.info.contact = { name: 'The administrator of this instance', url: baseUrl };
  return SwaggerModule.createDocument(application, outline, {
    include: [WorkspaceModule],
    operationIdFactory: (controller, method) => `${controller.replace(/Controller$/, '')}_${method}`,
  });
}

/** Bodies with unknown members are refused, and changes that change nothing. Answers stay open: they may grow. */
function closeBodies({ components }: OpenAPIObject): void {
  for (const [name, schema] of Object.entries(components?.schemas ?? {})) {
    if (name.endsWith('Body')) Object.assign(schema, { additionalProperties: false });
    if (name.endsWith('ChangeBody')) Object.assign(schema, { minProperties: 1 });
  }
}

/** The operations of a path, by method. */
type Tagged = Record<string, { readonly tags?: string[] }>;

/** @throws Error for a tag without a description */
function usedTags({ paths }: OpenAPIObject): { name: string; description: string }[] {
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods as Tagged));
  const used = new Set(operations.flatMap(({ tags = [] }) => tags));
  const unknown = [...used].find((name) => TAGS[name] === undefined);
  if (unknown !== undefined) throw new Error(`the tag ${unknown} is not described`);
  return Object.entries(TAGS)
    .filter(([name]) => used.has(name))
    .map(([name, description]) => ({ name, description }));
}

/** Links what makes a thing with what can be done to it, so that programs can go on from an answer. */
interface Operation {
  readonly operationId?: string;
  readonly summary?: string;
  readonly responses: Readonly<Record<string, { links?: Record<string, object> }>>;
}
type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

/** The rest of a thing's path after that of its list: the parameter with its id, and an action or a part. */
const ONE = /^\/\{(\w+)\}(\/[^{}]+)?$/;

/** Where `POST /things` makes one, the id that it answers is that of every operation on `/things/{thingId}` and below. */
function linkOperations(document: OpenAPIObject): void {
  const paths = document.paths as Paths;
  for (const [list, methods] of Object.entries(paths)) {
    const made = methods['post']?.responses['201'];
    if (made !== undefined) made.links = linksFrom(list, paths);
  }
}

function linksFrom(list: string, paths: Paths): Record<string, object> {
  const links = Object.entries(paths).flatMap(([path, methods]) => {
    const [, idName] = path.startsWith(list) ? (ONE.exec(path.slice(list.length)) ?? []) : [];
    if (idName === undefined) return [];
    const parameters = { ...parentsIn(list), [idName]: '$response.body#/id' };
    return Object.values(methods).map((operation) => linkTo(operation, parameters));
  });
  return Object.fromEntries(links);
}

function linkTo({ operationId = '', summary = '' }: Operation, parameters: object): [string, object] {
  return [operationId, { operationId, parameters, description: summary }];
}

/** Things that a list lies in are named by the request already. */
function parentsIn(list: string): Record<string, string> {
  const names = [...list.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '');
  return Object.fromEntries(names.map((name) => [name, `$request.path.${name}`]));
}

/** Says what the parameters in paths are: all but one are ids. */
interface Parameter {
  readonly name: string;
  readonly in: string;
}
interface WithParameters {
  readonly parameters?: Parameter[];
}

const ID = { type: 'string', format: 'uuid' };
const MEANINGS: Readonly<Record<string, { description: string; schema: object }>> = {
  userId: { description: 'Id of the user', schema: ID },
  projectId: { description: 'Id of the project', schema: ID },
  workflowId: { description: 'Id of the workflow', schema: ID },
  credentialId: { description: 'Id of the credential', schema: ID },
  type: { description: 'Type of credential', schema: { type: 'string', enum: [...CREDENTIAL_TYPE_NAMES] } },
};

/** @throws Error for a parameter without a description */
function describePathParameters({ paths }: OpenAPIObject): void {
  const operations = Object.values(paths).flatMap(
    (methods) => Object.values(methods as object) as WithParameters[],
  );
  const parameters = operations.flatMap((operation) => operation.parameters ?? []);
  for (const parameter of parameters.filter((each) => each.in === 'path')) {
    const meaning = MEANINGS[parameter.name];
    if (meaning === undefined) throw new Error(`the parameter ${parameter.name} is not described`);
    Object.assign(parameter, meaning);
  }
}
