// Parses a JSON request body into a validated object: content type, JSON, known fields, field rules.
import type { ArgumentMetadata, ExecutionContext, Type } from '@nestjs/common';
import {
  BadRequestException,
  createParamDecorator,
  PayloadTooLargeException,
  UnsupportedMediaTypeException,
  ValidationPipe,
} from '@nestjs/common';
import { getMetadataStorage } from 'class-validator';
import type { FastifyRequest } from 'fastify';
import type { BodyLabel } from '../../../platform/http/http-messages.js';
import {
  ContentCodingException,
  faultOfLabel,
  TOO_LARGE,
  TOO_LARGE_MESSAGE,
} from '../../../platform/http/http-messages.js';
import {
  hasUnstorableText,
  isJsonObject,
  isStorable,
  JsonError,
  parseStrictJsonDocument,
} from '../../../platform/json/strict-json.js';
import { printable } from '../../../platform/text/printable.js';

/**
 * @rule B.parts The maximum number of array elements and object members in a body: each takes processing
 * time.
 */
const MAX_PARTS = 5_000;

type Members = Record<string, unknown>;
/** The body from the server; undefined if there is none. */
type Body = Buffer | typeof TOO_LARGE | undefined;

/** Passes a controller the JSON body as an object, without checking its fields. */
export const JsonObject = createParamDecorator((_: unknown, context: ExecutionContext) => {
  const { headers, body } = context.switchToHttp().getRequest<FastifyRequest>();
  return readObject(headers, body as Body);
});

/**
 * Passes a controller the JSON body as an object of the parameter's class, whose properties have
 * class-validator rules.
 */
export const JsonBody = (): ParameterDecorator => JsonObject(new JsonBodyPipe());

/** Nest's pipe for flat bodies. The object has exactly the properties that were sent. */
export class JsonBodyPipe extends ValidationPipe {
  constructor() {
    super({
      transform: true,
      validateCustomDecorators: true,
      validationError: { target: false, value: false },
      exceptionFactory: ([error]) => badRequest(Object.values(error?.constraints ?? {}).join(', ')),
      // Not class-transformer: it rebuilds free-form objects with whatever they contain as `constructor`.
      transformerPackage: {
        plainToInstance: (type, members) => Object.assign(new type() as object, members) as never,
        classToPlain: (body) => body as Members,
      },
    });
  }

  /** @throws BadRequestException with a message that names the field and its rule, never a value */
  override transform(members: Members, metadata: ArgumentMetadata): Promise<unknown> {
    refuseUnknown(members, metadata.metatype);
    refuseUnstorable(members);
    return super.transform(members, metadata);
  }

  protected override stripProtoKeys(): void {
    // Free-form objects may have properties named `constructor` or `prototype`.
  }
}

/**
 * @throws PayloadTooLargeException
 * @throws UnsupportedMediaTypeException for anything but `application/json`
 * @throws BadRequestException
 */
export function readObject(headers: BodyLabel, body: Body): Members {
  if (body === TOO_LARGE)
    throw new PayloadTooLargeException({ error: 'payload_too_large', message: TOO_LARGE_MESSAGE });
  refuseLabel(headers);
  return objectOf(body ?? Buffer.alloc(0));
}

/** @throws UnsupportedMediaTypeException */
function refuseLabel(headers: BodyLabel): void {
  const fault = faultOfLabel(headers, 'application/json');
  if (fault === undefined) return;
  if (fault === 'content_encoding') throw new ContentCodingException();
  const message = fault === 'charset' ? 'The charset must be UTF-8' : 'Content-Type must be application/json';
  throw new UnsupportedMediaTypeException({ error: 'unsupported_media_type', message });
}

function objectOf(bytes: Buffer): Members {
  try {
    const value = parseStrictJsonDocument(bytes, MAX_PARTS);
    if (isJsonObject(value)) return value;
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw badRequest(`The body cannot be read: ${error.message}`);
  }
  throw badRequest('The body must be a JSON object');
}

/**
 * Refuses unknown fields, because a misspelt one would be lost silently. class-validator would create an
 * error for each, which takes a quarter of a second for the thousands in one body. It also accepts names that
 * every object inherits.
 */
function refuseUnknown(members: Members, type: Type = Object): void {
  const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
  const known = new Set(rules.map(({ propertyName }) => propertyName));
  const name = Object.keys(members).find((one) => !known.has(one));
  if (name !== undefined) throw badRequest(`The body has an unknown property: ${printable(name)}`);
}

/** @throws BadRequestException for values that the database would not return unchanged (D42) */
function refuseUnstorable(members: Members): void {
  for (const [name, value] of Object.entries(members)) {
    if (isStorable(value)) continue;
    const what = hasUnstorableText(value) ? 'characters that cannot be stored' : 'a number that is too large';
    throw badRequest(`${name} has ${what}`);
  }
}

function badRequest(message: string): BadRequestException {
  return new BadRequestException({ error: 'bad_request', message });
}
