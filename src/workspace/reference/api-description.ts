// The OpenAPI 3.1 description of the public API, made once from the controllers themselves.
import type { INestApplication } from '@nestjs/common';
import { Injectable } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { WorkspaceModule } from '../workspace.module.js';
import { renderReferencePage } from './reference-page.js';

const DESCRIPTION =
  'Projects, their members, workflows and credentials of this instance. Every call is authorised by the acting user: ' +
  "the actor of an access token where it has one, else its subject. What that user may not see answers 404. A session's " +
  "request other than GET needs the instance's own Origin. Lists are pages: follow nextCursor until it is null.";

/** Nothing of it is secret: it is the same for everybody, and answered without credentials. */
@Injectable()
export class ApiDescription {
  /** The document as JSON, and as a page for people. */
  json = '{}';
  page = '';

  /** To be called once the application has its routes. */
  describe(application: INestApplication, baseUrl: string): void {
    const outline = new DocumentBuilder()
      .setOpenAPIVersion('3.1.0')
      .setTitle('Instance API')
      .setVersion('1')
      .setDescription(DESCRIPTION)
      .addServer(baseUrl)
      .addBearerAuth({ type: 'http', scheme: 'bearer', bearerFormat: 'JWT' })
      .addCookieAuth('__Host-svc-session', { type: 'apiKey', in: 'cookie' }, 'session')
      .build();
    const document = SwaggerModule.createDocument(application, outline, {
      include: [WorkspaceModule],
      operationIdFactory: (controller, method) => `${controller.replace(/Controller$/, '')}_${method}`,
    });
    closeBodies(document);
    this.publish(document);
  }

  private publish(document: OpenAPIObject): void {
    this.json = JSON.stringify(document);
    this.page = renderReferencePage(document);
  }
}

/** Bodies with unknown members are refused. Answers stay open: they may grow. */
function closeBodies({ components }: OpenAPIObject): void {
  for (const [name, schema] of Object.entries(components?.schemas ?? {}))
    if (name.endsWith('Body')) Object.assign(schema, { additionalProperties: false });
}
