// POST and GET /rest/auth/embed: signs a browser in and sends it on.
import { Controller, Get, Post, Req, Res, UseFilters, UseGuards } from '@nestjs/common';
import {
  AvailableGuard,
  ClockGuard,
  EmbedLoginEnabledGuard,
  EmbedLoginThrottlerGuard,
  FormOnlyGuard,
  LoginMethodGuard,
} from '../edge/flow.guards.js';
import { FormBodies } from '../edge/form-bodies.js';
import { RevocationsKnownGuard } from '../edge/revocations-known.guard.js';
import type { HttpRequest } from '../../platform/http/http-answers.js';
import { HttpAnswers } from '../../platform/http/http-answers.js';
import { EMBED_PATH } from '../edge/paths.js';
import { requestIdOf } from '../../platform/http/request-id.js';
import { Journey } from '../journey.js';
import { rateLimitHeaders } from '../../platform/http/throttle/rate-limit.js';
import { EmbedErrorFilter } from './embed-error.filter.js';
import { readEmbedLoginForm } from './embed-login.form.js';
import { EmbeddedLoginService } from '../flows/embedded-login.service.js';
import { localRedirect, redirectFault } from './local-redirect.js';
import type { LoginSource } from '../flows/login-origin.js';
import { PlainHttpWarning } from './plain-http.warning.js';

/** 303 See Other: the browser goes on with GET, so that going back does not post the token again (D24). */
const SEE_OTHER = 303;

@Controller(EMBED_PATH)
@UseFilters(EmbedErrorFilter)
@UseGuards(
  AvailableGuard,
  LoginMethodGuard,
  EmbedLoginThrottlerGuard,
  EmbedLoginEnabledGuard,
  FormOnlyGuard,
  RevocationsKnownGuard,
  ClockGuard,
)
export class EmbedLoginController {
  constructor(
    private readonly embedLogin: EmbeddedLoginService,
    private readonly plainHttp: PlainHttpWarning,
    private readonly bodies: FormBodies,
    private readonly answers: HttpAnswers,
    private readonly journey: Journey,
  ) {}

  @Post()
  post(@Req() request: HttpRequest, @Res() response: object): Promise<void> {
    return this.login(this.bodies.bytesOf(request), request, response);
  }

  @Get()
  get(@Req() request: HttpRequest, @Res() response: object): Promise<void> {
    const url = request.originalUrl ?? request.url;
    return this.login(url.includes('?') ? url.slice(url.indexOf('?') + 1) : '', request, response);
  }

  private async login(encoded: Uint8Array | string, request: HttpRequest, response: object): Promise<void> {
    const { token, redirectTo } = readEmbedLoginForm(encoded);
    const requestId = requestIdOf(request);
    const { cookie: cookies } = request.headers;
    const attempt = { token, source: sourceOf(request), sender: request, cookies, requestId };
    const { setCookie, rateLimit } = await this.embedLogin.login(attempt);
    this.plainHttp.warnUnlessHttps(request.protocol, requestId);
    const location = localRedirect(redirectTo);
    if (location === '/') this.warnOfReplacement(redirectTo, requestId);
    const headers = { ...(rateLimit && rateLimitHeaders(rateLimit)), 'set-cookie': setCookie, location };
    this.answers.reply(request, response, { status: SEE_OTHER, headers });
  }

  /** What it was stays untold: it may be anything, a token too. An empty field counts as left out. */
  private warnOfReplacement(redirectTo: string | undefined, requestId: string): void {
    if (redirectTo === undefined || redirectTo === '') return;
    const found = redirectFault(redirectTo);
    if (found === undefined) return;
    this.journey.warn('redirect_replaced', { flow: 'embed', requestId, expected: 'a path', found });
  }
}

function sourceOf({ method, headers }: HttpRequest): LoginSource {
  const fetchSite = headers['sec-fetch-site'];
  return {
    method: method === 'POST' ? 'POST' : 'GET',
    origin: headers.origin,
    fetchSite: typeof fetchSite === 'string' ? fetchSite : undefined,
  };
}
