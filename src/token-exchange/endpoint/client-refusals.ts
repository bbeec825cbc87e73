// Records that a client was refused at an endpoint to which clients come with an access token and credentials of their own.
import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import { isOverOfStrangers, MemoryCounts } from '../../platform/http/throttle/counting.storage.js';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';
import { AuditBus, auditEvent } from '../audit/audit.bus.js';
import { ExchangeTelemetry } from '../host/telemetry.js';
import { tokenRefusalLine } from '../refusals/refusal-line.js';
import type { RefusedToken } from '../refusals/oauth-refusal.js';
import type { FlowRequest } from './flow-request.js';
import { TOKEN_WORK } from './flows.js';

/** The request that is refused. */
export type Source = Pick<FlowRequest, 'requestId' | 'clientAddress'>;

@Injectable()
export class ClientRefusals {
  constructor(
    private readonly audit: AuditBus,
    private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Log,
    private readonly counts: MemoryCounts,
    private readonly telemetry: ExchangeTelemetry,
  ) {}

  /** Strangers can cause them: log and trail have some of each address, and metrics count all (D79). */
  async record(
    flow: keyof typeof TOKEN_WORK,
    { reason, context }: RefusedToken,
    { requestId, clientAddress }: Source,
  ): Promise<void> {
    this.telemetry.countRefusal(flow, reason);
    if (isOverOfStrangers(this.counts, 'client refusals', clientAddress)) return;
    const { work, failureEvent: name } = TOKEN_WORK[flow];
    const { clientId, detail, expected, found } = context;
    const payload = { reason, clientId, detail, expected, found, clientAddress };
    try {
      await this.audit.record([auditEvent(name, { occurredAt: this.clock.now(), requestId }, payload)]);
    } finally {
      this.logger.warn({ event: name, requestId, payload }, tokenRefusalLine(work, reason, context));
    }
  }
}
