// Records the statements that a service sends to its database during some work.
import { DataSource } from 'typeorm';
import type { TestService } from './test-service.js';

/** SQLSTATE `deadlock_detected`. */
const DEADLOCK = '40P01';

/** The texts of all statements that are sent meanwhile, on the connections of requests. */
export async function statementsOf(service: TestService, work: () => Promise<unknown>): Promise<string[]> {
  const logQuery = jest.spyOn(service.part(DataSource).logger, 'logQuery');
  try {
    await work();
    return logQuery.mock.calls.map(([text]) => text);
  } finally {
    logQuery.mockRestore();
  }
}

/** The number of statements that fail with a deadlock during the work, including retried ones. */
export async function deadlocksDuring(service: TestService, work: () => Promise<unknown>): Promise<number> {
  const logError = jest.spyOn(service.part(DataSource).logger, 'logQueryError');
  try {
    await work();
    return logError.mock.calls.filter(([error]) => (error as { code?: string }).code === DEADLOCK).length;
  } finally {
    logError.mockRestore();
  }
}

/** Whether a transaction of several statements begins meanwhile. */
export async function takesTransaction(service: TestService, work: () => Promise<unknown>): Promise<boolean> {
  return (await statementsOf(service, work)).includes('START TRANSACTION');
}
