// Which errors mean that the database cannot serve now, and which are faults.
import {
  QueryFailedError,
  QueryRunnerAlreadyReleasedError,
  QueryRunnerProviderAlreadyReleasedError,
} from 'typeorm';
import { DatabaseWaitError, unavailabilityOf } from '../../../../src/platform/database/database-error.js';

const withCode = (code: string, more: object = {}) =>
  Object.assign(new Error('of the driver'), { code, ...more });
const connecting = { syscall: 'connect' };

it.each([
  ['08006', 'connection_lost'],
  ['28000', 'connection_lost'],
  ['28P01', 'connection_lost'],
  ['3D000', 'connection_lost'],
  ['57P01', 'connection_lost'],
  ['25P03', 'connection_lost'],
  ['53300', 'pool_exhausted'],
  ['57014', 'time_limit'],
  ['55P03', 'time_limit'],
  ['25006', 'read_only'],
  ['53100', 'out_of_resources'],
  ['58030', 'out_of_resources'],
  ['40001', 'contention'],
  ['40P01', 'contention'],
])('[D49] SQLSTATE %s: %s, even if TypeORM wraps it', (code, why) => {
  expect(unavailabilityOf(withCode(code))).toBe(why);
  expect(unavailabilityOf(new QueryFailedError('SELECT 1', [], withCode(code)))).toBe(why);
});

it.each(['23505', '23503', '22012', '42601', '42P01', '3F000', '25P02', 'XX000'])(
  '[D49] SQLSTATE %s is an error rather than an outage',
  (code) => expect(unavailabilityOf(withCode(code))).toBeUndefined(),
);

it.each(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'EAI_AGAIN'])(
  '[D49] %s of a connection means that it is lost',
  (code) => expect(unavailabilityOf(withCode(code, connecting))).toBe('connection_lost'),
);

it.each(['ECONNRESET', 'CERT_HAS_EXPIRED', 'ERR_TLS_CERT_ALTNAME_INVALID', 'ERR_SSL_WRONG_VERSION_NUMBER'])(
  '[D49] %s during the TLS handshake, without a system call, means a lost connection',
  (code) => expect(unavailabilityOf(withCode(code))).toBe('connection_lost'),
);

it('[D49] a name with several addresses is refused if all of them refuse', () => {
  const all = new AggregateError([
    withCode('ECONNREFUSED', connecting),
    withCode('ECONNREFUSED', connecting),
  ]);
  expect(unavailabilityOf(Object.assign(all, { code: 'ECONNREFUSED' }))).toBe('connection_lost');
});

it('[D49] a missing file is an error rather than an outage', () =>
  expect(unavailabilityOf(withCode('ENOENT', { syscall: 'open' }))).toBeUndefined());

it.each([
  ['timeout exceeded when trying to connect', 'pool_exhausted'],
  ['Connection terminated due to connection timeout', 'time_limit'],
  ['Connection terminated unexpectedly', 'connection_lost'],
  ['Client was closed and is not queryable', 'connection_lost'],
  ['Query read timeout', 'time_limit'],
  ['The server does not support SSL connections', 'connection_lost'],
])('[D49] an error of pg without a code: %s', (message, why) =>
  expect(unavailabilityOf(new Error(message))).toBe(why),
);

it.each([QueryRunnerAlreadyReleasedError, QueryRunnerProviderAlreadyReleasedError])(
  '[D49] a broken connection that TypeORM has returned to its pool: %p',
  (Released) => expect(unavailabilityOf(new Released())).toBe('connection_lost'),
);

it('[D49] an abandoned operation reports why', () =>
  expect(unavailabilityOf(new DatabaseWaitError('not_replicated'))).toBe('not_replicated'));

it.each([[new Error('a fault')], ['a text'], [null], [undefined], [{ code: 42 }]])(
  '%p is an error rather than an outage',
  (fault) => expect(unavailabilityOf(fault)).toBeUndefined(),
);
