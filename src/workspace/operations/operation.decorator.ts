// Declares everything about an API route in one place: its right, its licence feature, its input and its
// responses.
import type { Type } from '@nestjs/common';
import { applyDecorators, HttpCode, Param } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { ApiQueryOptions } from '@nestjs/swagger';
import {
  ApiBody,
  ApiExtension,
  ApiExtraModels,
  ApiOperation,
  ApiParam,
  ApiProperty,
  ApiQuery,
  ApiResponse,
  ApiSecurity,
  getSchemaPath,
} from '@nestjs/swagger';
import { RouteScope } from '../../access/authentication.guard.js';
import type { LicenseFeature } from '../../config/license.js';
import { RETRY_AFTER } from '../../platform/http/temporarily-unavailable.exception.js';
import { CURSOR_CHARACTERS, CURSOR_PATTERN } from '../api/pages.js';
import { DEFAULT_LIMIT, IdPipe, MAX_LIMIT } from '../api/request-input.pipe.js';
import type { Right } from '../rights/rights.js';

export class ErrorAnswer {
  @ApiProperty({ description: 'A stable machine word.' })
  readonly error!: string;

  @ApiProperty({ description: 'A text for people. It names a wrong field, never a value.' })
  readonly message!: string;

  @ApiProperty({ description: 'The X-Request-Id of the answer; the log has the cause under it.' })
  readonly requestId!: string;

  @ApiProperty({
    required: false,
    type: 'string',
    nullable: true,
    description: "With session_of_another_user: the origin of the page which posted the other user's login.",
  })
  readonly hostOrigin?: string | null;

  @ApiProperty({
    required: false,
    type: 'number',
    description:
      'With invalid_dpop_proof and use_dpop_nonce: the time by which proofs are checked, in seconds since 1970.',
  })
  readonly serverTime?: number;
}

export class NotFoundAnswer {
  @ApiProperty({ enum: ['not_found'], description: 'A stable machine word.' })
  readonly error!: string;

  @ApiProperty({ enum: ['Not found'], description: 'For people.' })
  readonly message!: string;
}

export interface OperationRule {
  /** Undefined: every signed-in user may call it. */
  readonly right?: Right;
  /**
   * The route checks its project right itself, because its path names no project: a list, which its query
   * filters, or a creation, whose project is in the body.
   */
  readonly asksItself?: true;
  readonly feature?: LicenseFeature;
  /** Reads with a session are in the audit trail too. */
  readonly isAlwaysRecorded?: true;
}

export interface Operation extends OperationRule {
  readonly summary: string;
  readonly description?: string;
  readonly body?: Type;
  readonly answer: Answer;
  /**
   * In addition to 401, 409, 429 and 503, which every operation may return, and those of a right or a body.
   */
  readonly errors: readonly (400 | 403 | 404 | 409)[];
}

/** By operation id. */
type Links = Readonly<
  Record<string, { readonly operationId: string; readonly parameters: Record<string, string> }>
>;

type Answer =
  | { readonly status: 200 | 201; readonly is: Type; readonly links?: Links }
  | { readonly status: 200; readonly pageOf: Type; readonly maxCursorCharacters?: number }
  | { readonly status: 200; readonly schema: Record<string, unknown> }
  | { readonly status: 204 };

/** The rule of a route; see api-controller.decorator.ts. */
export const Rule = Reflector.createDecorator<OperationRule>();

const ERRORS: Readonly<Record<number, string>> = {
  400: 'A field or parameter is wrong; the message names it',
  401: 'No valid access token or session',
  403: 'The role does not allow it (forbidden), the access token lacks the scope (insufficient_scope), the licence does not include it (feature_not_licensed), or a session wrote from elsewhere (csrf_refused)',
  404: 'It does not exist, or the acting user may not see it',
  409: "The session is another user's by now (session_of_another_user)",
  413: 'The body is larger than 256 KiB',
  415: 'The body is not application/json',
  429: 'The caller made too many calls within a minute',
  503: 'The database cannot serve the call in time, revocations cannot be read at present, or there are too many requests in progress (temporarily_unavailable)',
};
const CONFLICT = 'It contradicts existing data; the error code says what. ';
const challenge = (description: string) =>
  ({ 'WWW-Authenticate': { description, schema: { type: 'string' } } }) as const;
const HEADERS_OF_ERRORS: Readonly<Record<number, ReturnType<typeof challenge> | typeof RETRY_AFTER>> = {
  401: challenge('RFC 6750, RFC 9449'),
  403: challenge('RFC 6750, if the access token lacks the scope'),
  429: RETRY_AFTER,
  503: RETRY_AFTER,
};
const ERRORS_OF_BODIES = [400, 413, 415];
/** A token may lack the scope of any right. */
const ERRORS_OF_RIGHTS = [403];

export function Operation(operation: Operation): MethodDecorator {
  const { right, asksItself, feature, isAlwaysRecorded, answer } = operation;
  return applyDecorators(
    Rule({ right, asksItself, feature, isAlwaysRecorded }),
    ...(right === undefined ? [] : [RouteScope(right)]),
    HttpCode(answer.status),
    documentationOf(operation),
    ...('pageOf' in answer ? [PageQueries(answer.maxCursorCharacters)] : []),
  );
}

function documentationOf(operation: Operation): MethodDecorator {
  const { summary, description, right, feature, body, answer, errors } = operation;
  const ofRight = right === undefined ? [] : ERRORS_OF_RIGHTS;
  const ofBody = body === undefined ? [] : ERRORS_OF_BODIES;
  const statuses = new Set([401, 409, 429, 503, ...errors, ...ofRight, ...ofBody]);
  return applyDecorators(
    // OpenAPI 3.1 allows scopes for schemes other than OAuth 2.0, too.
    ApiSecurity('bearer', right === undefined ? [] : [right]),
    ApiSecurity('session'),
    ApiOperation({ summary, description: [description, needsOf(operation)].join(' ').trim() }),
    ...(right === undefined ? [] : [ApiExtension('x-required-right', right)]),
    ...(feature === undefined ? [] : [ApiExtension('x-license-feature', feature)]),
    ...(body === undefined ? [] : [ApiBody({ type: body, required: true })]),
    ...successOf(answer),
    ...[...statuses].sort().map((status) => errorAnswer(status, errors.includes(409))),
  );
}

function needsOf({ right, feature }: Operation): string {
  const needs = right === undefined ? 'Every signed-in user may.' : `Needs the right \`${right}\`.`;
  return feature === undefined ? needs : `${needs} Needs the licence feature \`${feature}\`.`;
}

type MethodDecorators = (MethodDecorator & ClassDecorator)[] | MethodDecorator[];

function successOf(answer: Answer): MethodDecorators {
  const { status } = answer;
  if ('is' in answer)
    return [ApiResponse({ status, type: answer.is, description: 'Done', links: answer.links })];
  if ('schema' in answer) return [ApiResponse({ status, schema: answer.schema, description: 'Done' })];
  if (!('pageOf' in answer)) return [ApiResponse({ status, description: 'Done; the answer is empty' })];
  return [
    ApiExtraModels(answer.pageOf),
    ApiResponse({ status, schema: pageSchema(getSchemaPath(answer.pageOf)), description: 'One page' }),
  ];
}

/**
 * Links a created object to its operations, so that programs can continue from a response.
 * @param idName the path parameter of the operations that is the id in the response
 * @param parentName the path parameter of the parent, which the request also has
 */
export function linksTo(idName: string, operationIds: readonly string[], parentName?: string): Links {
  const ofParent = parentName === undefined ? {} : { [parentName]: `$request.path.${parentName}` };
  const parameters = { ...ofParent, [idName]: '$response.body#/id' };
  return Object.fromEntries(operationIds.map((operationId) => [operationId, { operationId, parameters }]));
}

type ParameterSchema = Extract<ApiQueryOptions, { schema: unknown }>['schema'];

export function OptionalQuery(name: string, description: string, schema: ParameterSchema): MethodDecorator {
  return ApiQuery({ name, description, required: false, schema });
}

/** Documents the paging parameters of a list. @param how how to send the cursor back */
export function PageQueries(maxCursorCharacters = CURSOR_CHARACTERS, how = 'unchanged'): MethodDecorator {
  return applyDecorators(
    OptionalQuery('limit', 'How many at most', {
      type: 'integer',
      minimum: 1,
      maximum: MAX_LIMIT,
      default: DEFAULT_LIMIT,
    }),
    OptionalQuery('cursor', `The nextCursor of the previous page, ${how}`, {
      type: 'string',
      minLength: 1,
      maxLength: maxCursorCharacters,
      pattern: CURSOR_PATTERN,
    }),
  );
}

function pageSchema(member: string) {
  return {
    type: 'object',
    required: ['data', 'nextCursor'],
    properties: {
      data: { type: 'array', items: { $ref: member } },
      nextCursor: {
        oneOf: [{ type: 'string' }, { type: 'null' }],
        description: 'Where the next page begins; null on the last one',
      },
    },
  };
}

function errorAnswer(status: number, hasConflicts: boolean): MethodDecorator {
  const type = status === 404 ? NotFoundAnswer : ErrorAnswer;
  const headers = HEADERS_OF_ERRORS[status];
  const description = `${status === 409 && hasConflicts ? CONFLICT : ''}${ERRORS[status] ?? ''}`;
  return ApiResponse({ status, type, description, ...(headers && { headers }) });
}

/** An id in the path. Anything but a UUID gets 404. @param name the parameter, such as `userId` */
export function PathId(name: `${'user' | 'project' | 'workflow' | 'credential'}Id`): ParameterDecorator {
  const schema = { type: 'string', format: 'uuid' };
  const documented = ApiParam({ name, description: `Id of the ${name.slice(0, -2)}`, schema });
  return (prototype, method = '', index) => {
    Param(name, IdPipe)(prototype, method, index);
    documented(prototype, method, Object.getOwnPropertyDescriptor(prototype, method) ?? {});
  };
}
