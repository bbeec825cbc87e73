// The OpenAPI 3.1 description of the public API, generated from the controllers on the first request.
import { createHash } from 'node:crypto';
import type { INestApplication } from '@nestjs/common';
import { Injectable } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { SESSION_DESCRIPTION } from '../../access/session.description.js';
import { VERSION } from '../../platform/version.js';
import type { CredentialSchema } from '../credentials/credential-types.js';
import { CREDENTIAL_TYPES } from '../credentials/credential-types.js';
import { WorkspaceModule } from '../workspace.module.js';

const DESCRIPTION =
  'Projects, their members, workflows and credentials of this instance. Every call is authorised by the acting user: ' +
  'the actor of an access token where it has one, else its subject; where the token says delegated_rights: both, by actor and ' +
  'subject alike. A token that is limited to scopes needs the one that an operation names, which is that of the right. An ' +
  "object that the user may not see is answered as if there were none: 404. A session's request other than GET needs the instance's own Origin. Lists are pages: " +
  'follow nextCursor until it is null.';
const BEARER =
  'An access token, which this instance issues: POST an external JWT to /rest/auth/oauth/token (token exchange, RFC 8693), as ' +
  '/.well-known/oauth-authorization-server describes. It is valid for expires_in seconds; then exchange another JWT. ' +
  'If its token_type is DPoP, send it by the scheme DPoP in place of Bearer, with a proof in the header DPoP (RFC 9449).';
const SESSION =
  'The cookie of an embedded login, for the pages of this instance itself. They say whom they show in X-Session-User, by the ' +
  'user.id of /rest/me, and get 409 session_of_another_user if another user has signed in meanwhile.';

const TOKEN_TAGS = {
  Tokens: 'How partners sign their users in: access tokens for programs, sessions for browsers.',
};
const TAGS = {
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
  /**
   * The paths of the token endpoints and the login, which their module describes; undefined if they are
   * disabled.
   */
  readonly tokenPaths: object | undefined;
}

interface PublishedDescription {
  /** JSON. */
  readonly text: string;
  readonly entityTag: string;
}

/**
 * The description is the same for everyone, and public. It depends only on classes, so it is generated once,
 * on the first request: doing so at the start would delay every instance, and most never need it.
 */
@Injectable()
export class ApiDescription {
  private subject: Subject | undefined;
  private document: PublishedDescription | undefined;

  /** Call it when the application has its routes. */
  describe(subject: Subject): void {
    this.subject = subject;
  }

  published(): PublishedDescription {
    if (this.subject === undefined) throw new Error('there is nothing to describe yet');
    return (this.document ??= documentOf(this.subject));
  }
}

function documentOf({ application, baseUrl, tokenPaths }: Subject): PublishedDescription {
  const document = SwaggerModule.createDocument(application, outlineOf(baseUrl, tokenPaths), {
    include: [WorkspaceModule],
    operationIdFactory: (controller, method) => `${controller.replace(/Controller$/, '')}_${method}`,
  });
  closeBodies(document);
  describeCredentialTypes(document);
  giveExamples(document);
  Object.assign(document.paths, SESSION_DESCRIPTION, tokenPaths);
  const text = JSON.stringify(document);
  return { text, entityTag: `"${createHash('sha256').update(text).digest('base64url')}"` };
}

function outlineOf(baseUrl: string, tokenPaths: object | undefined): Omit<OpenAPIObject, 'paths'> {
  const builder = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Instance API')
    .setVersion(VERSION)
    .setDescription(DESCRIPTION)
    .addServer(baseUrl)
    .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
    .addBearerAuth({ type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: BEARER })
    .addCookieAuth('__Host-svc-session', { type: 'apiKey', in: 'cookie', description: SESSION }, 'session');
  const tags = { ...(tokenPaths && TOKEN_TAGS), ...TAGS };
  for (const [name, description] of Object.entries(tags)) builder.addTag(name, description);
  const outline = builder.build();
  // The library would add an empty e-mail address.
  outline.info.contact = { name: 'The administrator of this instance', url: baseUrl };
  return outline;
}

/**
 * Forbids unknown fields in bodies, and empty changes. Responses stay open, because they may get new fields.
 */
function closeBodies({ components }: OpenAPIObject): void {
  for (const [name, schema] of Object.entries(components?.schemas ?? {})) {
    if (name.endsWith('Body')) Object.assign(schema, { additionalProperties: false });
    if (name.endsWith('ChangeBody')) Object.assign(schema, { minProperties: 1 });
  }
}

type Schemas = Record<string, Schema>;
interface Schema {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, object>>;
  readonly [keyword: string]: unknown;
}

const NEW = 'NewCredentialBody';
const CHANGE = 'CredentialChangeBody';

/**
 * A new credential has one of the types. Each has named schemas for its body and its data, so that generated
 * clients have classes for them. The data that a change may contain depends on the stored credential, which
 * no schema can express.
 */
function describeCredentialTypes({ components }: OpenAPIObject): void {
  const schemas = (components?.schemas ?? {}) as Schemas;
  const whole = schemas[NEW];
  if (whole === undefined) throw new Error(`the description has no ${NEW}`);
  const types = [...CREDENTIAL_TYPES.keys()];
  for (const [type, schema] of CREDENTIAL_TYPES) {
    schemas[dataName(type)] = dataSchema(schema);
    schemas[bodyName(type)] = bodySchema(whole, type);
  }
  schemas[NEW] = {
    description: 'A credential of one of the types.',
    oneOf: types.map((type) => ({ $ref: reference(bodyName(type)) })),
    discriminator: {
      propertyName: 'type',
      mapping: Object.fromEntries(types.map((type) => [type, reference(bodyName(type))])),
    },
  };
  Object.assign(schemas[CHANGE] ?? {}, PARTIAL_CHANGE);
}

/**
 * `isPartialData` is meaningless without data. Linters expect an example to have only the properties that
 * `then` names.
 */
const PARTIAL_CHANGE = {
  not: { properties: { isPartialData: {} }, required: ['isPartialData'], maxProperties: 1 },
  if: { required: ['isPartialData'], properties: { isPartialData: { const: true } } },
  then: { properties: { name: {}, type: {}, data: {}, isPartialData: {} }, required: ['data'] },
};

/** Omits the title, which some generators would use as the class name. */
function dataSchema({ $schema, title, ...schema }: CredentialSchema): Schema {
  return { ...schema, description: `Data of a credential of the type ${title}. By ${$schema}.` };
}

function bodySchema({ properties, ...whole }: Schema, type: string): Schema {
  return {
    ...whole,
    properties: {
      ...properties,
      type: { type: 'string', enum: [type], description: "Type. It determines data's schema." },
      data: { $ref: reference(dataName(type)) },
    },
  };
}

function bodyName(type: string): string {
  return `New${capitalised(type)}Body`;
}

function dataName(type: string): string {
  return `${capitalised(type)}Data`;
}

function capitalised(type: string): string {
  return type.charAt(0).toUpperCase() + type.slice(1);
}

function reference(name: string): string {
  return `#/components/schemas/${name}`;
}

const ID = {
  user: '0190163d-8694-739b-aea5-966c26f8ad91',
  project: '0190163d-8694-739b-aea5-966c26f8ad92',
  workflow: '0190163d-8694-739b-aea5-966c26f8ad93',
  credential: '0190163d-8694-739b-aea5-966c26f8ad94',
};
const TIMES = { createdAt: '2026-01-30T09:00:00.000Z', updatedAt: '2026-01-31T12:00:00.000Z' };
const PERSON = { email: 'ada@partner.example', givenName: 'Ada', familyName: 'Lovelace' };
const DEFINITION = {
  nodes: [
    { id: 'a', name: 'Start', type: 'manualTrigger', parameters: {} },
    {
      id: 'b',
      name: 'Fetch orders',
      type: 'httpRequest',
      parameters: { method: 'GET', url: 'https://shop.example/orders' },
    },
  ],
  connections: { Start: { main: [[{ node: 'Fetch orders', type: 'main', index: 0 }]] } },
};
const WORKFLOW = {
  id: ID.workflow,
  projectId: ID.project,
  name: 'Import of orders',
  active: false,
  ...TIMES,
  canEdit: true,
};
const EXTERNAL_KEY = { issuer: 'https://partner.example', key: 'acme' };
const PROJECT = { id: ID.project, name: 'Orders', type: 'team' };

const EVENT = {
  id: '4711',
  event: 'svc.audit.token-exchange.failed',
  occurredAt: '2026-01-31T09:00:00.000Z',
  requestId: '1fr68knv0000a8k2rq4t',
  subjectUserId: null,
  actorUserId: null,
  payload: { reason: 'token_expired', issuer: 'https://partner.example', kid: '2026-11' },
};

/** By schema name. The types of credential have their data in their own schemas. */
const EXAMPLES: Readonly<Record<string, object>> = {
  NewUserBody: { ...PERSON, role: 'global:member' },
  UserChangeBody: { enabled: false },
  UserAnswer: { id: ID.user, ...PERSON, role: 'global:member', enabled: true, ...TIMES },
  ProjectBody: { name: 'Orders' },
  ProjectAnswer: { ...PROJECT, externalKeys: [EXTERNAL_KEY], ...TIMES },
  ExternalKeyAnswer: EXTERNAL_KEY,
  NewMemberBody: { userId: ID.user, role: 'project:editor' },
  MemberRoleBody: { role: 'project:viewer' },
  MemberAnswer: { id: ID.user, ...PERSON, role: 'project:editor', issuer: EXTERNAL_KEY.issuer },
  NewWorkflowBody: { name: 'Import of orders', ...DEFINITION },
  WorkflowChangeBody: { name: 'Import of all orders' },
  WorkflowAnswer: { ...WORKFLOW, ...DEFINITION },
  ListedWorkflowAnswer: WORKFLOW,
  WorkflowCountAnswer: { count: 12, hasMore: false },
  NewCredentialBody: { name: 'Shop', type: 'httpBasicAuth', data: { user: 'ada', password: 'a secret' } },
  CredentialChangeBody: { isPartialData: true, data: { password: 'another secret' } },
  CredentialAnswer: {
    id: ID.credential,
    name: 'Shop',
    type: 'httpBasicAuth',
    project: PROJECT,
    ...TIMES,
  },
  CredentialProjectAnswer: PROJECT,
  AuditEventAnswer: EVENT,
  AuditEventPageAnswer: {
    data: [EVENT],
    nextCursor: null,
    since: '2026-01-30T12:00:00.000Z',
    until: null,
    lookedBackTo: null,
  },
  ErrorAnswer: {
    error: 'bad_request',
    message: 'name must be a string of 1 to 128 characters',
    requestId: '1fr68knv0000a8k2rq4t',
  },
  NotFoundAnswer: { error: 'not_found', message: 'Not found' },
};

/** @throws Error for an example without a schema */
function giveExamples({ components }: OpenAPIObject): void {
  for (const [name, example] of Object.entries(EXAMPLES)) {
    const schema = components?.schemas?.[name];
    if (schema === undefined) throw new Error(`there is an example of ${name}, which is not described`);
    Object.assign(schema, { examples: [example] });
  }
}
