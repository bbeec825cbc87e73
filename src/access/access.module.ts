// What the instance hands out and takes back: sessions, access tokens, and who may come in with them.
import type { DynamicModule } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
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
  static register(options: AccessOptions, keyRing: KeyRing): DynamicModule {
    const offered = [SessionService, AccessTokenService, AuthenticationService, AuthenticationGuard];
    return {
      module: AccessModule,
      global: true,
      imports: [TypeOrmModule.forFeature([WebSession, SigningKey])],
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
