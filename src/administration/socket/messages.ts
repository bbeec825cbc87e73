// What goes through the command socket: one request in JSON, then an answer of JSON lines.
import { JsonError, isJsonObject, parseStrictJsonBytes } from '../../platform/json/strict-json.js';
import { CommandError } from '../command-error.js';
import type { Operation } from '../operation.js';
import { findOperation } from '../operations.js';
import { REQUEST_LIMIT_BYTES } from './command-socket.js';

/**
 * What a command asks for. It ends where the command ends its half of the connection. The version comes with every
 * release, so that a command of another one is told so, whatever else it sends.
 */
export interface CommandRequest {
  readonly version: string;
  readonly command: string;
  readonly input: unknown;
}

/** A line of the answer: pages as long as there are any, then one of the others, which is the last. */
export type AnswerLine =
  | { readonly page: readonly unknown[] }
  | { readonly result: unknown }
  /** Why it was not done, in words for the user of the command. */
  | { readonly refusal: string }
  /** It ended by a fault of the service, which has it in its log under this request id. */
  | { readonly fault: string };

/** What a version may look like: one that does not is not repeated. */
const VERSION_FORM = /^[\w.+-]{1,64}$/;
const MEMBERS = ['version', 'command', 'input'];

/** @throws CommandError where the request is larger than the service takes */
export function writeRequest(request: CommandRequest): string {
  const text = JSON.stringify(request);
  const bytes = Buffer.byteLength(text);
  if (bytes <= REQUEST_LIMIT_BYTES) return text;
  throw new CommandError(
    `This makes a request of ${bytes} bytes, and a running service takes ${REQUEST_LIMIT_BYTES} (256 KiB): ` +
      'do it in smaller parts, or while the service is stopped.',
  );
}

/**
 * Finds out what is asked for.
 * @param version of this service
 * @throws CommandError for what cannot be read, another version, and an unknown command
 */
export function readRequest(bytes: Uint8Array, version: string): { operation: Operation; input: unknown } {
  const request = parsed(bytes);
  refuseOtherVersion(request['version'], version);
  if (Object.keys(request).some((member) => !MEMBERS.includes(member)))
    throw new CommandError(`The request has a member that is not known; known are ${MEMBERS.join(', ')}.`);
  const operation = findOperation(request['command']);
  if (operation === undefined) throw new CommandError('The service knows no such command.');
  return { operation, input: request['input'] };
}

function parsed(bytes: Uint8Array): Record<string, unknown> {
  try {
    const request = parseStrictJsonBytes(bytes);
    if (isJsonObject(request)) return request;
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw new CommandError(`The request cannot be read: ${error.message}.`);
  }
  throw new CommandError('The request cannot be read: it must be a JSON object.');
}

function refuseOtherVersion(theirs: unknown, ours: string): void {
  if (theirs === ours) return;
  if (typeof theirs !== 'string' || !VERSION_FORM.test(theirs))
    throw new CommandError('The request does not say of which version it is.');
  throw new CommandError(
    `The service that runs is version ${ours}, and this command is version ${theirs}: use the command of the ` +
      "service's version, or restart the service.",
  );
}
