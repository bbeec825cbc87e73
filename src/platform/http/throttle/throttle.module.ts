// Offers throttle guards the storage that the configuration chooses.
import type { DynamicModule, ModuleMetadata, Provider } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { getStorageToken } from '@nestjs/throttler';
import type { ThrottleOptions } from './database-throttler.storage.js';
import { DatabaseThrottlerStorage, THROTTLE_OPTIONS } from './database-throttler.storage.js';
import { MemoryThrottlerStorage } from './memory-throttler.storage.js';
import { ThrottleCounterRepository } from './throttle-counter.repository.js';
import { ThrottlePurgeJob } from './throttle-purge.job.js';

/**
 * In place of ThrottlerModule: that one offers its storage to every module, whether it asks for it or not. It also gives one
 * list of limits to every guard, while each guard here has a limit of its own (minute-throttler.guard.ts).
 */
@Module({})
export class ThrottleModule {
  /**
   * Registered once: two registrations would count apart.
   * @param imports modules that offer the clock, and for the store `database` also log, database and leader
   */
  static register(options: ThrottleOptions, imports: ModuleMetadata['imports']): DynamicModule {
    return {
      module: ThrottleModule,
      imports,
      providers: [{ provide: THROTTLE_OPTIONS, useValue: options }, ...storageOf(options)],
      exports: [getStorageToken()],
    };
  }
}

/** What guards inject by `@InjectThrottlerStorage()`. */
function storageOf({ store }: ThrottleOptions): Provider[] {
  const provide = getStorageToken();
  if (store === 'memory') return [{ provide, useClass: MemoryThrottlerStorage }];
  return [ThrottleCounterRepository, ThrottlePurgeJob, { provide, useClass: DatabaseThrottlerStorage }];
}
