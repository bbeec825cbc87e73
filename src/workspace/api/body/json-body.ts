// Reads a JSON request body into a checked object: content type, text, known members, field rules.
import type { IncomingHttpHeaders } from 'node:http';
import type { ExecutionContext, PipeTransform, Type } from '@nestjs/common';
import {
  BadRequestException,
  PayloadTooLargeException,
  UnsupportedMediaTypeException,
  createParamDecorator,
} from '@nestjs/common';
import { getMetadataStorage, validateSync } from 'class-validator';
import type { FastifyRequest } from 'fastify';
import {
  ContentCodingException,
  BODY_LIMIT_BYTES,
  BODY_TOO_LARGE,
  faultOfLabel,
} from '../../../platform/http/body.js';
import type { RequestBody } from '../../../platform/http/body.js';
import {
  JsonError,
  hasUnstorableText,
  isJsonObject,
  isStorable,
  parseStrictJsonBytes,
} from '../../../platform/json/strict-json.js';

/** @rule B.parts Array elements and object members of a body, in all: what is done with it takes time for each of them. */
const MAX_PARTS = 5_000;

/** A body as it has arrived. */
interface RawBody {
  readonly contentType: string | undefined;
  readonly contentEncoding?: string | undefined;
  readonly bytes: RequestBody;
}

const RawJsonBody = createParamDecorator((_: unknown, context: ExecutionContext): RawBody => {
  const { headers, body } = context.switchToHttp().getRequest<FastifyRequest>();
  return {
    contentType: headers['content-type'],
    contentEncoding: headers['content-encoding'],
    bytes: body as RequestBody,
  };
});

/**
 * Hands a controller the JSON body of a request as an object of a class whose members carry class-validator rules. It has the
 * members that were sent, and no other. Unknown ones are refused: a misspelt one would be lost silently.
 */
export function JsonBody<T extends object>(type: Type<T>): ParameterDecorator {
  return RawJsonBody(new JsonBodyPipe(type));
}

export class JsonBodyPipe<T extends object> implements PipeTransform<RawBody, T> {
  private readonly memberNames: readonly string[];

  /** @param type a class that has its decorators already */
  constructor(private readonly type: Type<T>) {
    this.memberNames = memberNamesOf(type);
  }

  /**
   * @throws PayloadTooLargeException
   * @throws UnsupportedMediaTypeException for anything but `application/json`
   * @throws BadRequestException with a message that names the member and its rule, never a value
   */
  transform(body: RawBody): T {
    const members = readObject(body);
    refuseUnknown(members, this.memberNames);
    refuseUnstorable(members);
    return checked(Object.assign(new this.type(), members));
  }
}

function checked<T extends object>(body: T): T {
  const [error] = validateSync(body, { stopAtFirstError: true });
  if (error === undefined) return body;
  throw badRequest(Object.values(error.constraints ?? {}).join(', '));
}

/** Hands a controller the JSON body of a request as it is, an object, for those whose members something else checks. */
export function JsonObject(): ParameterDecorator {
  return RawJsonBody(new JsonObjectPipe());
}

class JsonObjectPipe implements PipeTransform<RawBody, Record<string, unknown>> {
  /** Throws as JsonBodyPipe, for problems other than those of members. */
  transform(body: RawBody): Record<string, unknown> {
    return readObject(body);
  }
}

function readObject({ bytes, contentType, contentEncoding }: RawBody): Record<string, unknown> {
  if (bytes === BODY_TOO_LARGE) throw tooLarge();
  refuseLabel({ 'content-type': contentType, 'content-encoding': contentEncoding });
  return objectOf(bytes ?? Buffer.alloc(0));
}

/** @throws UnsupportedMediaTypeException */
function refuseLabel(headers: IncomingHttpHeaders): void {
  const fault = faultOfLabel(headers, 'application/json');
  if (fault === undefined) return;
  if (fault === 'content_encoding') throw new ContentCodingException();
  const message = fault === 'charset' ? 'The charset must be UTF-8' : 'Content-Type must be application/json';
  throw new UnsupportedMediaTypeException({ error: 'unsupported_media_type', message });
}

function objectOf(bytes: Buffer): Record<string, unknown> {
  try {
    const value = parseStrictJsonBytes(bytes, MAX_PARTS);
    if (isJsonObject(value)) return value;
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw badRequest(`The body is unreadable: ${error.message}`);
  }
  throw badRequest('The body must be a JSON object');
}

function memberNamesOf(type: Type): readonly string[] {
  const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
  return [...new Set(rules.map(({ propertyName }) => propertyName))];
}

function refuseUnknown(members: Record<string, unknown>, known: readonly string[]): void {
  if (Object.keys(members).every((name) => known.includes(name))) return;
  throw badRequest(`The body has an unknown member; known are ${known.join(', ')}`);
}

/** @throws BadRequestException for what would not come back from the database as it was sent (D42) */
function refuseUnstorable(members: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(members)) {
    if (isStorable(value)) continue;
    const what = hasUnstorableText(value) ? 'characters that cannot be stored' : 'a number that is too large';
    throw badRequest(`${name} has ${what}`);
  }
}

function tooLarge(): PayloadTooLargeException {
  const message = `The request body is larger than ${BODY_LIMIT_BYTES / 1024} KiB`;
  return new PayloadTooLargeException({ error: 'payload_too_large', message });
}

function badRequest(message: string): BadRequestException {
  return new BadRequestException({ error: 'bad_request', message });
}
