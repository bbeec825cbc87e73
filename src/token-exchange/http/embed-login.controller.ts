// POST and GET /rest/auth/embed: signs a browser in and sends it on.
import { Get, Post, Req, Res } from '@nestjs/common';
import { FlowEndpoint } from './flow.endpoints.js';
import type { HttpAnswer, HttpRequest } from '../../platform/http/http-answers.js';
import { HttpAnswers } from '../../platform/http/http-answers.js';
import { ENDPOINTS } from './paths.js';
import { FlowRunner } from './flow.runner.js';
import type { FlowRequest } from '../flows/flow-request.js';
import { Notices } from '../flows/notices.js';
import { rateLimitHeaders } from '../../platform/http/throttle/rate-limit.js';
import { asksForPage, readEmbedLoginForm } from './form.js';
import { EmbeddedLoginService } from '../flows/embedded-login.service.js';
import type { RedirectFault } from './local-redirect.js';
import { localRedirect, namingUser } from './local-redirect.js';
import type { LoginSource } from '../flows/verification.js';
import { RareWarnings } from './warnings.js';

/** 303 See Other: the browser goes on with GET, so that going back does not post the token again (D24). */
const SEE_OTHER = 303;

@FlowEndpoint('embed')
export class EmbedLoginController {
  constructor(
    private readonly flows: FlowRunner,
    private readonly embedLogin: EmbeddedLoginService,
    private readonly warnings: RareWarnings,
    private readonly answers: HttpAnswers,
    private readonly notices: Notices,
  ) {}

  @Post(ENDPOINTS.embed)
  post(@Req() request: HttpRequest, @Res() response: object): Promise<void> {
    return this.login(request, response, request.body);
  }

  @Get(ENDPOINTS.embed)
  get(@Req() request: HttpRequest, @Res() response: object): Promise<void> {
    return this.login(request, response, request.query);
  }

  private async login(request: HttpRequest, response: object, sent: unknown): Promise<void> {
    const answer = await this.flows.run('embed', request, (received) => this.answer(sent, request, received));
    this.answers.reply(request, response, answer);
  }

  private async answer(sent: unknown, request: HttpRequest, received: FlowRequest): Promise<HttpAnswer> {
    const { token, redirectTo, userId } = readEmbedLoginForm(sent);
    const { requestId } = received;
    const { location, fault: replacedRedirect } = localRedirect(redirectTo);
    const asked = {
      token,
      source: sourceOf(request),
      cookies: request.headers.cookie,
      expectedUserId: userId,
      replacedRedirect,
    };
    const { setCookie, rateLimit, userId: signedIn } = await this.embedLogin.login(asked, received);
    this.warnings.unlessHttps(request.protocol, requestId);
    if (replacedRedirect !== undefined) this.warnOfReplacement(replacedRedirect, requestId);
    // The page learns whom it is for, since the cookie may be another user's when it asks (D51).
    const headers = {
      ...(rateLimit && rateLimitHeaders(rateLimit)),
      'set-cookie': setCookie,
      location: asksForPage(request) ? namingUser(location, signedIn) : location,
    };
    return { status: SEE_OTHER, headers };
  }

  /** The value is not logged: it may be anything, even a token. */
  private warnOfReplacement(found: RedirectFault, requestId: string): void {
    this.notices.warn('redirect_replaced', { flow: 'embed', requestId, expected: 'a path', found });
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
