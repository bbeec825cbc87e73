// Warns the operator that an identity was linked to the account of an administrator.
import { Inject, Injectable } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import type { AuditEvent } from '../audit/audit-event.js';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';

const EVENT = 'svc.audit.token-exchange.privileged-identity-linked';

/** Logged after the commit. */
@Injectable()
export class PrivilegedLinkWarning {
  constructor(@Inject(LOGGER) private readonly logger: Log) {}

  @OnEvent(EVENT)
  warn({ requestId, payload: { issuer, userId, role } }: AuditEvent<typeof EVENT>): void {
    this.logger.warn(
      { requestId, issuer, userId, role },
      'an external identity was linked to the account of an administrator by its e-mail address',
    );
  }
}
