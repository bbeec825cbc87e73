// Offers the leader and other instances' announcements to the whole application.
import type { DynamicModule } from '@nestjs/common';
import { Module } from '@nestjs/common';
import type { Coordination } from './coordination.js';
import { Leader } from './leader.js';
import { Notifications } from './notifications.js';

@Module({})
export class CoordinationModule {
  /** This process has joined the other instances before Nest starts. */
  static register({ leader, notifications }: Coordination): DynamicModule {
    return {
      module: CoordinationModule,
      global: true,
      providers: [
        { provide: Leader, useValue: leader },
        { provide: Notifications, useValue: notifications },
      ],
      exports: [Leader, Notifications],
    };
  }
}
