// Answers to clients while the database cannot serve.
import { RETRY_AFTER_SECONDS } from './retry-after.js';
import { TemporarilyUnavailableException } from './temporarily-unavailable.exception.js';

const MESSAGES = {
  exchange: 'The instance cannot reach its database at the moment; retry with a fresh token',
  embed: 'The instance cannot reach its database at the moment; sign in again with a fresh token',
  'id-jag': 'The instance cannot reach its database at the moment; retry with a fresh assertion',
  revocation: 'The instance cannot reach its database at the moment; the token may still hold, so try again',
  logout: 'The instance cannot reach its database at the moment; send the same logout token again',
  api: 'The instance cannot reach its database at the moment; a change may have been made, so look before trying again',
} as const;

/** What was refused: a flow, the end of a token, or anything else that is answered. */
export type RefusedWork = keyof typeof MESSAGES;

/** The 503 in place of an error of the database, which may still have done what it was asked. */
export function databaseRefusal(work: RefusedWork): TemporarilyUnavailableException {
  return new TemporarilyUnavailableException(MESSAGES[work], RETRY_AFTER_SECONDS.database);
}
