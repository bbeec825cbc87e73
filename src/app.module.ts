// The modules of the instance.
import type { DynamicModule } from '@nestjs/common';
import { Module, Optional } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { AccessModule } from './access/access.module.js';
import { CommandSocketModule } from './administration/socket/command.server.js';
import { AuditStreamingModule } from './audit/sinks/audit-streaming.module.js';
import type { CoreParts } from './core.module.js';
import { CoreModule } from './core.module.js';
import { HealthModule } from './health/health.module.js';
import { FormErrorFilter } from './instance/form-error.filter.js';
import { MetadataModule } from './instance/metadata.module.js';
import { PresentEntries } from './instance/present-entries.js';
import { tokenExchange } from './instance/token-exchange.modules.js';
import { MetricsModule } from './metrics/metrics.module.js';
import { OperatorModule } from './operator/operator.module.js';
import { ErrorFilter } from './platform/http/error.filter.js';
import { StoredEntryFollower } from './token-exchange/instance.js';
import { NotFoundPageFilter } from './web/page-templates.js';
import { WebModule } from './web/web.module.js';
import { ReferenceModule } from './workspace/reference/reference.module.js';
import { WorkspaceModule } from './workspace/workspace.module.js';

@Module({})
export class AppModule {
  static register(parts: CoreParts): DynamicModule {
    const { startup, databaseSettings } = parts;
    return {
      module: AppModule,
      imports: [
        CoreModule.register(parts),
        MetricsModule,
        AuditStreamingModule,
        AccessModule,
        MetadataModule,
        WorkspaceModule,
        ReferenceModule,
        WebModule,
        HealthModule,
        ...tokenExchange(parts),
        // On PostgreSQL commands have the database for themselves.
        ...(databaseSettings.kind === 'embedded' ? [CommandSocketModule] : []),
        ...(startup.config.adminEnabled ? [OperatorModule] : []),
      ],
      // The last one that takes an error answers it.
      providers: [ErrorFilter, FormErrorFilter, NotFoundPageFilter].map((useClass) => ({
        provide: APP_FILTER,
        useClass,
      })),
    };
  }

  /** @param stored undefined where token exchange is off */
  constructor(entries: PresentEntries, @Optional() stored?: StoredEntryFollower) {
    if (stored !== undefined) entries.follow(() => stored.entries);
  }
}
