// What the instance is for: projects and workflows, and the API to them.
import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ApiAuditInterceptor } from './api-audit.interceptor.js';
import { ProjectsModule } from './projects.module.js';
import { WorkflowController } from './workflow.controller.js';
import { Workflow, WorkflowRepository } from './workflow.repository.js';

@Module({
  imports: [ProjectsModule, TypeOrmModule.forFeature([Workflow])],
  controllers: [WorkflowController],
  providers: [WorkflowRepository, ApiAuditInterceptor],
  exports: [WorkflowRepository],
})
export class WorkspaceModule {}
