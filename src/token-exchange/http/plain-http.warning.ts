// Tells the operator why an embedded login leaves no session where the instance is reached over plain HTTP.
import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';

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
