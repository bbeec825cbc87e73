// What the instance hands out and takes back: sessions, access tokens, and who may come in with them.
import type { DynamicModule, ModuleMetadata } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { repositoriesOf } from '../database/database.module.js';
import { KeyRing } from '../sealing/key-ring.js';
import { AccessTokenService } from './access-token.service.js';
import type { AccessOptions } from './access.options.js';
import { ACCESS_OPTIONS } from './access.options.js';
import { AuthenticationGuard } from './authentication.guard.js';
import { AuthenticationService } from './authentication.service.js';
import { KeySetController } from './key-set.controller.js';
import { MetadataController } from './metadata.controller.js';
import { SessionPurgeJob } from './session-purge.job.js';
import { SessionController } from './session.controller.js';
import { SessionRepository, WebSession } from './session.repository.js';
import { SessionService } from './session.service.js';
import { SigningKey, SigningKeyRepository } from './signing-key.repository.js';
import { SigningKeyService } from './signing-key.service.js';

@Module({})
export class AccessModule {
  /** @param imports modules that offer clock, log, database, leader, audit bus and users */
  static register(
    options: AccessOptions,
    keyRing: KeyRing,
    imports: NonNullable<ModuleMetadata['imports']>,
  ): DynamicModule {
    const offered = [SessionService, AccessTokenService, AuthenticationService, AuthenticationGuard];
    return {
      module: AccessModule,
      imports: [...imports, repositoriesOf([WebSession, SigningKey], imports)],
      controllers: [SessionController, KeySetController, MetadataController],
      providers: [
        ...offered,
        SessionRepository,
        SigningKeyRepository,
        SigningKeyService,
        SessionPurgeJob,
        { provide: ACCESS_OPTIONS, useValue: options },
        { provide: KeyRing, useValue: keyRing },
      ],
      exports: [...offered, ACCESS_OPTIONS],
    };
  }
}
