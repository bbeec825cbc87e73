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
  ['08P01', 'connection_lost'],
  ['28000', 'connection_lost'],
  ['28P01', 'connection_lost'],
  ['3D000', 'connection_lost'],
  ['57P01', 'connection_lost'],
  ['57P02', 'connection_lost'],
  ['57P03', 'connection_lost'],
  ['25P03', 'connection_lost'],
  ['53300', 'pool_exhausted'],
  ['57014', 'time_limit'],
  ['55P03', 'time_limit'],
  ['25006', 'read_only'],
  ['53100', 'out_of_resources'],
  ['53200', 'out_of_resources'],
  ['58030', 'out_of_resources'],
  ['40001', 'contention'],
  ['40P01', 'contention'],
])('[D49] SQLSTATE %s: %s, also where TypeORM hands it on', (code, why) => {
  expect(unavailabilityOf(withCode(code))).toBe(why);
  expect(unavailabilityOf(new QueryFailedError('SELECT 1', [], withCode(code)))).toBe(why);
});

it.each(['23505', '23503', '22012', '42601', '42P01', '3F000', '25P02', 'XX000'])(
  '[D49] SQLSTATE %s is a fault',
  (code) => expect(unavailabilityOf(withCode(code))).toBeUndefined(),
);

it.each(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'EAI_AGAIN'])(
  '[D49] %s of a connection is one that is lost',
  (code) => expect(unavailabilityOf(withCode(code, connecting))).toBe('connection_lost'),
);

it.each([
  'ECONNRESET',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'ERR_SSL_WRONG_VERSION_NUMBER',
])('[D49] %s when TLS begins, without a call of the system, is a connection that is lost', (code) =>
  expect(unavailabilityOf(withCode(code))).toBe('connection_lost'),
);

it('[D49] a name with several addresses is refused by all of them', () => {
  const all = new AggregateError([
    withCode('ECONNREFUSED', connecting),
    withCode('ECONNREFUSED', connecting),
  ]);
  expect(unavailabilityOf(Object.assign(all, { code: 'ECONNREFUSED' }))).toBe('connection_lost');
});

it('[D49] a file that is not there is a fault', () =>
  expect(unavailabilityOf(withCode('ENOENT', { syscall: 'open' }))).toBeUndefined());

it.each([
  ['timeout exceeded when trying to connect', 'pool_exhausted'],
  ['Connection terminated due to connection timeout', 'time_limit'],
  ['Connection terminated unexpectedly', 'connection_lost'],
  ['Connection terminated', 'connection_lost'],
  ['Client was closed and is not queryable', 'connection_lost'],
  ['Query read timeout', 'time_limit'],
  ['The server does not support SSL connections', 'connection_lost'],
])('[D49] what pg says without a code: %s', (message, why) =>
  expect(unavailabilityOf(new Error(message))).toBe(why),
);

it.each([QueryRunnerAlreadyReleasedError, QueryRunnerProviderAlreadyReleasedError])(
  '[D49] TypeORM has given a connection back that broke between two statements: %p',
  (Released) => expect(unavailabilityOf(new Released())).toBe('connection_lost'),
);

it('[D49] what was not waited for any longer says why', () =>
  expect(unavailabilityOf(new DatabaseWaitError('not_replicated'))).toBe('not_replicated'));

it.each([[new Error('a fault')], ['a text'], [null], [undefined], [{ code: 42 }]])('%p is a fault', (fault) =>
  expect(unavailabilityOf(fault)).toBeUndefined(),
);
