// Renders an OpenAPI document as one HTML page without scripts, so that the strictest content security policy lets it be.
import { STATUS_CODES } from 'node:http';
import type { OpenAPIObject } from '@nestjs/swagger';

/** The parts of a schema that the page shows. */
interface Schema {
  $ref?: string;
  type?: string;
  format?: string;
  description?: string;
  enum?: unknown[];
  required?: string[];
  properties?: Record<string, Schema>;
  items?: Schema;
  oneOf?: Schema[];
}

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema?: Schema;
}

interface Content {
  content?: Record<string, { schema?: Schema }>;
}

interface Operation {
  summary?: string;
  description?: string;
  tags?: string[];
  parameters?: Parameter[];
  requestBody?: Content;
  responses: Record<string, Content & { description?: string }>;
}

interface Route {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

/** Text that is HTML already; everything else is escaped. */
class Html {
  constructor(readonly text: string) {}
}

const STYLES = ['/assets/current/theme.css', '/assets/current/reference.css'];

export function renderReferencePage(document: OpenAPIObject): string {
  const { title, description = '' } = document.info;
  const schemas = (document.components?.schemas ?? {}) as Record<string, Schema>;
  const routes = routesOf(document);
  const tags = [...new Set(routes.map(({ operation }) => operation.tags?.[0] ?? ''))];
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        ${STYLES.map((path) => html`<link rel="stylesheet" href="${path}" />`)}
      </head>
      <body>
        <h1>${title}</h1>
        <p>${description}</p>
        <p><a href="/api/v1/openapi.json">OpenAPI document</a></p>
        <nav>${tags.map((tag) => html`<a href="#${anchorOf(tag)}">${tag}</a> `)}</nav>
        ${tags.map((tag) => tagSection(tag, routes))}
        <h2 id="schemas">Bodies</h2>
        ${Object.entries(schemas).map(([name, schema]) => schemaSection(name, schema))}
      </body>
    </html>`.text;
}

function routesOf(document: OpenAPIObject): Route[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods as Record<string, Operation>).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation,
    })),
  );
}

function tagSection(tag: string, routes: readonly Route[]): Html {
  const own = routes.filter(({ operation }) => operation.tags?.[0] === tag);
  return html`<section id="${anchorOf(tag)}">
    <h2>${tag}</h2>
    ${own.map(routeArticle)}
  </section>`;
}

function routeArticle({ method, path, operation }: Route): Html {
  const { summary = '', description = '', parameters = [], requestBody, responses } = operation;
  return html`<article class="card">
    <h3><code>${method} ${path}</code></h3>
    <p>${summary}. ${description}</p>
    ${parameters.length === 0 ? [] : parameterTable(parameters)}
    ${requestBody === undefined ? [] : html`<p>Body: ${contentOf(requestBody)}</p>`}
    <table>
      <tr>
        <th>Answer</th>
        <th>When</th>
        <th>Body</th>
      </tr>
      ${Object.entries(responses).map(
        ([status, answer]) =>
          html`<tr>
            <td>${status} ${STATUS_CODES[status] ?? ''}</td>
            <td>${answer.description ?? ''}</td>
            <td>${contentOf(answer)}</td>
          </tr>`,
      )}
    </table>
  </article>`;
}

function parameterTable(parameters: readonly Parameter[]): Html {
  const rows = parameters.map(
    ({ name, in: location, required, description = '', schema = {} }) =>
      html`<tr>
        <td><code>${name}</code></td>
        <td>${location}${required === true ? '' : ', optional'}</td>
        <td>${typeOf(schema)}</td>
        <td>${description}</td>
      </tr>`,
  );
  return html`<table>
    <tr>
      <th>Parameter</th>
      <th>In</th>
      <th>Type</th>
      <th>Meaning</th>
    </tr>
    ${rows}
  </table>`;
}

function schemaSection(name: string, { properties = {}, required = [] }: Schema): Html {
  const rows = Object.entries(properties).map(
    ([member, schema]) =>
      html`<tr>
        <td><code>${member}</code>${required.includes(member) ? '' : ', optional'}</td>
        <td>${typeOf(schema)}</td>
        <td>${schema.description ?? ''}</td>
      </tr>`,
  );
  return html`<section class="card" id="${name}">
    <h3>${name}</h3>
    <table>
      <tr>
        <th>Member</th>
        <th>Type</th>
        <th>Meaning</th>
      </tr>
      ${rows}
    </table>
  </section>`;
}

function contentOf({ content }: Content): Html {
  const schema = Object.values(content ?? {})[0]?.schema;
  return schema === undefined ? html`none` : typeOf(schema);
}

function typeOf(schema: Schema): Html {
  const { $ref, items, oneOf, properties } = schema;
  if ($ref !== undefined) {
    const name = $ref.slice($ref.lastIndexOf('/') + 1);
    return html`<a href="#${name}">${name}</a>`;
  }
  if (schema.enum !== undefined) return html`${schema.enum.join(' | ')}`;
  if (items !== undefined) return html`list of ${typeOf(items)}`;
  if (oneOf !== undefined)
    return html`${oneOf.map((each, index) => html`${index === 0 ? '' : ' or '}${typeOf(each)}`)}`;
  if (properties === undefined) return html`${schema.format ?? schema.type ?? 'any'}`;
  return html`${Object.entries(properties).map(([name, member]) => html`<code>${name}</code>: ${typeOf(member)} `)}`;
}

function anchorOf(tag: string): string {
  return tag.toLowerCase().replaceAll(/[^a-z]+/g, '-');
}

/** A template in which every value is escaped that is not HTML made by this tag. */
function html(parts: TemplateStringsArray, ...values: readonly (string | Html | readonly Html[])[]): Html {
  return new Html(parts.map((part, index) => part + textOf(values[index] ?? '')).join(''));
}

function textOf(value: string | Html | readonly Html[]): string {
  if (typeof value === 'string') return escaped(value);
  return value instanceof Html ? value.text : value.map(({ text }) => text).join('');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (char) => ENTITIES[char] ?? '');
}
