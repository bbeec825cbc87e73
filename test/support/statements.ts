// What a service asks its database while something is done.
import { DataSource } from 'typeorm';
import type { TestService } from './test-service.js';

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

/** Whether a transaction of several statements begins meanwhile. */
export async function takesTransaction(service: TestService, work: () => Promise<unknown>): Promise<boolean> {
  return (await statementsOf(service, work)).includes('START TRANSACTION');
}
