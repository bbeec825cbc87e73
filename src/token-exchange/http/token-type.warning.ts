// Tells the operator of token types that other servers would refuse: here they are taken and not used.
import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import { Notices } from '../flows/notices.js';
import type { OtherTokenType } from './token-exchange.form.js';

const PAUSE_MS = 60_000;

@Injectable()
export class TokenTypeWarning {
  private readonly lastWarnedAtMs = new Map<string, number>();

  constructor(
    private readonly clock: Clock,
    private readonly notices: Notices,
  ) {}

  /** Once a minute at most for each field: it harms nobody, and whoever sends it sends it with every request. */
  warn({ field, expected, found }: OtherTokenType, requestId: string): void {
    const nowMs = this.clock.monotonicMs();
    if (nowMs - (this.lastWarnedAtMs.get(field) ?? Number.NEGATIVE_INFINITY) < PAUSE_MS) return;
    this.lastWarnedAtMs.set(field, nowMs);
    const values = { detail: field, expected, found };
    this.notices.warn('token_type_ignored', { flow: 'exchange', requestId, ...values });
  }
}
