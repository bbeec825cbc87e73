// Warnings to the operator, once a minute at most: a login over plain HTTP, which leaves no session, and odd token types.
import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';
import { Notices } from '../flows/notices.js';
import type { OtherTokenType } from './token-exchange.form.js';

const PAUSE_MS = 60_000;

@Injectable()
export class PlainHttpWarning {
  private lastWarnedAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Log,
  ) {}

  /** @rule D27 Over plain HTTP the answer is the same; the log says why the cookie is lost, once a minute at most. */
  warnUnlessHttps(protocol: string | undefined, requestId: string): void {
    const now = this.clock.monotonicMs();
    if (protocol === 'https' || now - this.lastWarnedAtMs < PAUSE_MS) return;
    this.lastWarnedAtMs = now;
    this.logger.warn(
      { requestId },
      'an embedded login came over plain HTTP: browsers drop its Secure cookie except on localhost; serve HTTPS, and ' +
        'behind a proxy forward X-Forwarded-Proto and have the server believe it',
    );
  }
}

/** Warns the operator of token types that other servers would refuse: here they are accepted and ignored. */
@Injectable()
export class TokenTypeWarning {
  private readonly lastWarnedAtMs = new Map<string, number>();

  constructor(
    private readonly clock: Clock,
    private readonly notices: Notices,
  ) {}

  /** Once a minute at most for each field: it is harmless, and its client sends it with every request. */
  warn({ field, expected, found }: OtherTokenType, requestId: string): void {
    const nowMs = this.clock.monotonicMs();
    if (nowMs - (this.lastWarnedAtMs.get(field) ?? Number.NEGATIVE_INFINITY) < PAUSE_MS) return;
    this.lastWarnedAtMs.set(field, nowMs);
    const values = { detail: field, expected, found };
    this.notices.warn('token_type_ignored', { flow: 'exchange', requestId, ...values });
  }
}
