// The OpenAPI 3.1 description of the public API, generated from the controllers on the first request.
import { createHash } from 'node:crypto';
import type { INestApplication } from '@nestjs/common';
import { Injectable } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { SESSION_DESCRIPTION } from '../../access/session.description.js';
import { VERSION } from '../../platform/version.js';
import { WorkspaceModule } from '../workspace.module.js';
import { describeCredentialTypes } from './credential-bodies.js';
import { giveExamples } from './examples.js';

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
