// The OpenAPI 3.1 description of the public API, made from the controllers themselves when it is first asked for.
import type { INestApplication } from '@nestjs/common';
import { Injectable } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { OpenApi } from '../api/body/api-documentation.js';
import { documentation } from '../api/body/api-documentation.js';
import { WorkspaceModule } from '../workspace.module.js';
import { renderReferencePage } from './reference-page.js';

const DESCRIPTION =
  'Projects, their members, workflows and credentials of this instance. Every call is authorised by the acting user: ' +
  "the actor of an access token where it has one, else its subject. What that user may not see answers 404. A session's " +
  "request other than GET needs the instance's own Origin. Lists are pages: follow nextCursor until it is null.";

/** The description as JSON for programs, and as a page for people. */
interface Published {
  readonly json: string;
  readonly page: string;
}

/** What is described. */
interface Subject {
  readonly application: INestApplication;
  readonly baseUrl: string;
}

/**
 * Nothing of it is secret: it is the same for everybody, and answered without credentials. It depends only on classes
 * that never change while the process runs, so that it is the same whenever it is made; at the start it would keep every
 * instance from its first answer, and most instances are never asked for it. Who asks first waits for it.
 */
@Injectable()
export class ApiDescription {
  private subject: Subject | undefined;
  private publication: Promise<Published> | undefined;

  /** To be called once the application has its routes. */
  describe(application: INestApplication, baseUrl: string): void {
    this.subject = { application, baseUrl };
  }

  /** Made once, however many ask for it at the same moment. */
  async published(): Promise<Published> {
    if (this.subject === undefined) throw new Error('there is nothing to describe yet');
    this.publication ??= publish(this.subject).catch((error: unknown) => {
      // The next one to ask tries again.
      this.publication = undefined;
      throw error;
    });
    return this.publication;
  }
}

async function publish(subject: Subject): Promise<Published> {
  const document = documentOf(subject, await documentation.loaded());
  closeBodies(document);
  return { json: JSON.stringify(document), page: renderReferencePage(document) };
}

function documentOf(
  { application, baseUrl }: Subject,
  { DocumentBuilder, SwaggerModule }: OpenApi,
): OpenAPIObject {
  const outline = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Instance API')
    .setVersion('1')
    .setDescription(DESCRIPTION)
    .addServer(baseUrl)
    .addBearerAuth({ type: 'http', scheme: 'bearer', bearerFormat: 'JWT' })
    .addCookieAuth('__Host-svc-session', { type: 'apiKey', in: 'cookie' }, 'session')
    .build();
  return SwaggerModule.createDocument(application, outline, {
    include: [WorkspaceModule],
    operationIdFactory: (controller, method) => `${controller.replace(/Controller$/, '')}_${method}`,
  });
}

/** Bodies with unknown members are refused. Answers stay open: they may grow. */
function closeBodies({ components }: OpenAPIObject): void {
  for (const [name, schema] of Object.entries(components?.schemas ?? {}))
    if (name.endsWith('Body')) Object.assign(schema, { additionalProperties: false });
}
