// Warnings to the operator, once a minute at most: a login over plain HTTP, which leaves no session, and odd token types.
import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';
import { Notices } from '../flows/notices.js';
import type { OtherTokenType } from './token-exchange.form.js';

const PAUSE_MS = 60_000;

/** Each once a minute at most: they are harmless, and a client causes them with every request. */
@Injectable()
export class RareWarnings {
  private readonly lastWarnedAtMs = new Map<string, number>();

  constructor(
    private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Log,
    private readonly notices: Notices,
  ) {}

  /** @rule D27 Over plain HTTP the answer is the same; the log says why the cookie is lost, once a minute at most. */
  unlessHttps(protocol: string | undefined, requestId: string): void {
    if (protocol === 'https' || !this.isDue('plain HTTP')) return;
    this.logger.warn(
      { requestId },
      'an embedded login came over plain HTTP: browsers drop its Secure cookie except on localhost; serve HTTPS, and ' +
        'behind a proxy forward X-Forwarded-Proto and have the server believe it',
    );
  }

  /** Of token types that other servers would refuse: here they are accepted and ignored. */
  ofTokenType({ field, expected, found }: OtherTokenType, requestId: string): void {
    if (!this.isDue(field)) return;
    const values = { detail: field, expected, found };
    this.notices.warn('token_type_ignored', { flow: 'exchange', requestId, ...values });
  }

  private isDue(warning: string): boolean {
    const nowMs = this.clock.monotonicMs();
    if (nowMs - (this.lastWarnedAtMs.get(warning) ?? Number.NEGATIVE_INFINITY) < PAUSE_MS) return false;
    this.lastWarnedAtMs.set(warning, nowMs);
    return true;
  }
}
