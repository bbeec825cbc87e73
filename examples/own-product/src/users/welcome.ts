// Logs the users who come from a partner: an example of a listener to token exchange's events.
import type { AuditEvent } from '@embedded-token-exchange/nestjs';
import { Injectable, Logger } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';

@Injectable()
export class Welcome {
  private readonly logger = new Logger('Welcome');

  @OnEvent('svc.audit.token-exchange.user-provisioned')
  greet({ payload }: AuditEvent<'svc.audit.token-exchange.user-provisioned'>): void {
    this.logger.log(`user ${payload.userId} is new, and came from ${payload.issuer}`);
  }
}
