// Publishes metadata of access tokens: their keys, their issuer, and what they give access to.
import { Module } from '@nestjs/common';
import { AccessModule } from '../access/access.module.js';
import type { Startup } from '../config/startup.js';
import { STARTUP } from '../config/startup.js';
import { Clock } from '../platform/clock.js';
import { HttpAnswers } from '../platform/http/http-answers.js';
import type { MetadataOptions } from '../token-exchange/instance.js';
import { KeySetController, METADATA_OPTIONS, MetadataController } from '../token-exchange/instance.js';
import { SCOPES } from '../workspace/rights/rights.js';
import { PresentEntries } from './present-entries.js';
import { tokenEndpointOf } from './routes.js';

@Module({
  imports: [AccessModule],
  controllers: [KeySetController, MetadataController],
  providers: [
    HttpAnswers,
    { provide: METADATA_OPTIONS, inject: [STARTUP, Clock, PresentEntries], useFactory: metadataOptions },
  ],
})
export class MetadataModule {}

function metadataOptions(startup: Startup, clock: Clock, entries: PresentEntries): MetadataOptions {
  const { baseUrl } = startup.config;
  return {
    baseUrl,
    scopes: SCOPES,
    resourceName: 'Instance API',
    resourceDocumentation: `${baseUrl}/api/v1/docs`,
    tokenEndpoint: () => tokenEndpointOf({ startup, clock, entries }),
  };
}
