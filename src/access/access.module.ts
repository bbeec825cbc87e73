// Sessions and access tokens of the instance, and the authentication with them.
import type { DynamicModule, ModuleMetadata, Type } from '@nestjs/common';
import { Module } from '@nestjs/common';
import type { AccessTokenOptions, SessionSettings } from '../token-exchange/instance.js';
import {
  ACCESS_TOKEN_OPTIONS,
  ACCESS_TOKEN_PROVIDERS,
  AccessTokenService,
  ClockDifference,
  DpopProofs,
  KeySetController,
  METADATA_OPTIONS,
  MetadataController,
  REVOCATION_PROVIDERS,
  RevocationFollower,
  RevocationRepository,
  Revocations,
  RevocationService,
  SESSION_OPTIONS,
  SESSION_PROVIDERS,
  SessionRepository,
  SessionService,
  UserDirectory,
} from '../token-exchange/instance.js';
import { KeyRing } from '../platform/secrets/key-ring.js';
import { HttpAnswers } from '../platform/http/http-answers.js';
import { MemoryCounts } from '../platform/http/throttle/memory-counts.js';
import type { AccessOptions } from './access.options.js';
import { ACCESS_OPTIONS } from './access.options.js';
import { AuthenticationGuard } from './authentication.guard.js';
import { AuthenticationService } from './authentication.service.js';
import { BearerRefusalRecorder } from './bearer-refusal.recorder.js';
import { SessionController } from './session.controller.js';

/** Sessions and tokens go on while token exchange is off: so they are registered here, and given to it. */
@Module({})
export class AccessModule {
  /** @param imports modules that offer clock, log, database, leader, audit bus and users */
  static register(
    options: AccessOptions,
    sessions: SessionSettings,
    keyRing: KeyRing,
    directory: Type<UserDirectory>,
    imports: NonNullable<ModuleMetadata['imports']>,
  ): DynamicModule {
    const offered = [
      Revocations,
      RevocationRepository,
      RevocationFollower,
      RevocationService,
      SessionRepository,
      SessionService,
      AccessTokenService,
      ClockDifference,
      DpopProofs,
      AuthenticationService,
      AuthenticationGuard,
      BearerRefusalRecorder,
    ];
    return {
      module: AccessModule,
      imports,
      controllers: [SessionController, KeySetController, MetadataController],
      providers: [
        ...REVOCATION_PROVIDERS,
        ...SESSION_PROVIDERS,
        ...ACCESS_TOKEN_PROVIDERS,
        AuthenticationService,
        AuthenticationGuard,
        BearerRefusalRecorder,
        MemoryCounts,
        HttpAnswers,
        { provide: ACCESS_OPTIONS, useValue: options },
        { provide: METADATA_OPTIONS, useExisting: ACCESS_OPTIONS },
        { provide: SESSION_OPTIONS, useValue: sessions },
        { provide: ACCESS_TOKEN_OPTIONS, useValue: accessTokenOptions(options) },
        { provide: KeyRing, useValue: keyRing },
        { provide: UserDirectory, useClass: directory },
      ],
      exports: [...offered, ACCESS_OPTIONS],
    };
  }
}

function accessTokenOptions({
  baseUrl: issuer,
  dpopNonce,
  onProofForgotten,
}: AccessOptions): AccessTokenOptions {
  return { issuer, dpopNonce, onProofForgotten };
}
