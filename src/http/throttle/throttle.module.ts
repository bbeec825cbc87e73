// Offers throttler guards the storage that the configuration chooses.
import type { DynamicModule, Provider } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { getOptionsToken, getStorageToken } from '@nestjs/throttler';
import type { ThrottlerModuleOptions } from '@nestjs/throttler';
import { BoundedThrottlerStorage } from './bounded-throttler.storage.js';
import { DatabaseThrottlerStorage } from './database-throttler.storage.js';
import { ThrottleCounterRepository } from './throttle-counter.repository.js';
import { ThrottlePurgeJob } from './throttle-purge.job.js';
import type { ThrottleOptions } from './throttle.options.js';
import { THROTTLE_OPTIONS, WINDOW_MS } from './throttle.options.js';

/** What the package's guard asks for at its construction; ours have their own limits and window. */
const THROTTLER: ThrottlerModuleOptions = { throttlers: [{ ttl: WINDOW_MS, limit: 0 }] };

/**
 * Stands in for ThrottlerModule: it provides the same two tokens, which guards inject by `@InjectThrottlerOptions()`
 * and `@InjectThrottlerStorage()`, but lets the storage have dependencies (clock, database, logger).
 */
@Module({})
export class ThrottleModule {
  /** Registered once, visible everywhere: two registrations would count apart. */
  static register(options: ThrottleOptions): DynamicModule {
    const storageToken = getStorageToken();
    const providers: Provider[] = [
      { provide: getOptionsToken(), useValue: THROTTLER },
      { provide: THROTTLE_OPTIONS, useValue: options },
    ];
    if (options.store === 'database') {
      providers.push(ThrottleCounterRepository, ThrottlePurgeJob);
      providers.push({ provide: storageToken, useClass: DatabaseThrottlerStorage });
    } else {
      providers.push({ provide: storageToken, useClass: BoundedThrottlerStorage });
    }
    return { module: ThrottleModule, global: true, providers, exports: [getOptionsToken(), storageToken] };
  }
}
