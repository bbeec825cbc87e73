// The modules of the instance.
import type { DynamicModule } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { AccessModule } from './access/access.module.js';
import { CommandSocketModule } from './administration/socket/command.server.js';
import { AuditJobsModule } from './audit/audit-jobs.module.js';
import type { CoreSettings } from './core.module.js';
import { CoreModule } from './core.module.js';
import { HealthModule } from './health/health.module.js';
import { FrameModule } from './instance/frame.module.js';
import { MetadataModule, tokenExchange } from './instance/token-exchange.modules.js';
import { MetricsModule } from './metrics/metrics.module.js';
import { OperatorModule } from './operator/operator.module.js';
import { InstanceErrorFilter } from './web/page-templates.js';
import { WebModule } from './web/web.module.js';
import { ReferenceModule } from './workspace/reference/reference.controller.js';
import { WorkspaceModule } from './workspace/workspace.module.js';

@Module({})
export class AppModule {
  static register(settings: CoreSettings): DynamicModule {
    const { startup, database } = settings;
    return {
      module: AppModule,
      imports: [
        CoreModule.register(settings),
        MetricsModule,
        AuditJobsModule,
        AccessModule,
        MetadataModule,
        WorkspaceModule,
        ReferenceModule,
        WebModule,
        FrameModule,
        HealthModule,
        ...tokenExchange(settings),
        // On PostgreSQL commands have the database for themselves.
        ...(database.kind === 'embedded' ? [CommandSocketModule] : []),
        ...(startup.config.adminEnabled ? [OperatorModule] : []),
      ],
      providers: [{ provide: APP_FILTER, useClass: InstanceErrorFilter }],
    };
  }
}
