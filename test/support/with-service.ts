// A service for one test: started for it, and stopped however it ends.
import { TestDatabase } from './databases.js';
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

/** The same on a database of its own: the embedded one of a block belongs to the service that the block has started. */
export async function withServiceApart<T>(
  options: TestServiceOptions,
  work: (service: TestService) => Promise<T>,
): Promise<T> {
  const database = TestDatabase.ofAnyKind();
  await database.create();
  try {
    return await withService(database, options, work);
  } finally {
    await database.remove();
  }
}
