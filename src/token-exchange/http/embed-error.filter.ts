// Writes what ends an embedded login: as JSON, or as a page.
import { Catch, Inject, Optional } from '@nestjs/common';
import { FormBodies } from './form-bodies.js';
import type { Refused } from './refusal.filter.js';
import { RefusalFilter } from './refusal.filter.js';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';
import type { RenderedPage } from '../host/login-failure-page.js';
import { LoginFailurePage } from '../host/login-failure-page.js';
import { ExchangeTelemetry } from '../host/telemetry.js';
import { DatabaseOutages } from '../../platform/http/database-outages.js';
import type { HttpAnswer, HttpRequest } from '../../platform/http/http-answers.js';
import { HttpAnswers } from '../../platform/http/http-answers.js';
import { requestIdOf } from '../../platform/log/request-id.js';
import { asksForPage } from './embed-login.form.js';
import { pageOriginOf } from '../flows/login-origin.js';

@Catch()
export class EmbedErrorFilter extends RefusalFilter {
  protected readonly endpoint = 'embed';
  protected readonly flow = 'embed';

  constructor(
    @Inject(LOGGER) logger: Log,
    telemetry: ExchangeTelemetry,
    answers: HttpAnswers,
    outages: DatabaseOutages,
    private readonly bodies: FormBodies,
    @Optional() private readonly page?: LoginFailurePage,
  ) {
    super(logger, telemetry, answers, outages);
  }

  /**
   * @rule 7.9 A failure is always a JSON answer, never a redirect.
   * @rule D50 A post of the instance's own script gets the same status and word as a page.
   */
  protected override written(refused: Refused, request: HttpRequest, thrown: unknown): HttpAnswer {
    const { status, error, message, headers } = refused;
    const page = this.pageFor(request, error, thrown);
    if (page === undefined) return { status, headers, body: { error, message } };
    return { status, headers: { ...headers, 'content-type': page.contentType }, body: page.body };
  }

  /** Undefined where JSON is the answer. */
  private pageFor(request: HttpRequest, word: string, thrown: unknown): RenderedPage | undefined {
    if (this.page === undefined || request.method !== 'POST') return undefined;
    if (!asksForPage(this.bodyOf(request), request.url)) return undefined;
    const loginOrigin = pageOriginOf(request.headers.origin);
    const retryAfterSeconds =
      thrown instanceof Error && 'retryAfterSeconds' in thrown ? Number(thrown.retryAfterSeconds) : undefined;
    return this.page.render({ word, requestId: requestIdOf(request), retryAfterSeconds, loginOrigin });
  }

  /** A body that cannot be read asks for nothing: that it cannot be read is then why the login fails. */
  private bodyOf(request: HttpRequest): unknown {
    try {
      return this.bodies.of(request).body;
    } catch {
      return undefined;
    }
  }
}
