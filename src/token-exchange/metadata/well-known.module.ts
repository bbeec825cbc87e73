// The documents at /.well-known, in a separate module, because the endpoints' prefix does not apply there.
import type { Type } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { HttpAnswers } from '../../platform/http/http-answers.js';
import { KeySetController, MetadataController } from './metadata.controller.js';

export const PUBLISHED_CONTROLLERS: Type<object>[] = [MetadataController, KeySetController];

/** Needs `METADATA_OPTIONS` and `SigningKeyService`, which the global `TokenExchangeModule` exports. */
@Module({ controllers: PUBLISHED_CONTROLLERS, providers: [HttpAnswers] })
export class WellKnownModule {}
