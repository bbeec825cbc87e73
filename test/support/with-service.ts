// A service for one test: started for it, and stopped however it ends.
import type { TestDatabase } from './databases.js';
import type { TestServiceOptions } from './test-service.js';
import { TestService } from './test-service.js';

/** The database stays, so that what one service wrote the next one finds. */
export async function withService<T>(
  database: TestDatabase,
  options: TestServiceOptions,
  work: (service: TestService) => Promise<T>,
): Promise<T> {
  const service = await TestService.start(database, options);
  try {
    return await work(service);
  } finally {
    await service.stop();
  }
}
