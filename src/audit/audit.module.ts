// The audit bus with its sinks.
import { Global, Module } from '@nestjs/common';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditLogSink } from './audit-log.sink.js';
import { AuditRow, AuditTrailRepository } from './audit-trail.repository.js';
import { AuditBus } from './audit.bus.js';

@Global()
@Module({
  imports: [EventEmitterModule.forRoot({ wildcard: true }), TypeOrmModule.forFeature([AuditRow])],
  providers: [AuditBus, AuditTrailRepository, AuditLogSink],
  exports: [AuditBus],
})
export class AuditModule {}
