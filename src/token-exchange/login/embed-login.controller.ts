// POST and GET /rest/auth/embed: signs a browser in and redirects it, or answers with a session that is bound to a key of the
// page.
import { Get, Inject, Post, Req, Res, UseGuards } from '@nestjs/common';
import type { HttpAnswer, HttpRequest } from '../../platform/http/http-messages.js';
import { HttpAnswers } from '../../platform/http/http-messages.js';
import { isOver, MemoryCounts, rateLimitHeaders } from '../../platform/http/throttle/rate-limit.js';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';
import { pageOrigin } from '../../platform/text/origin.js';
import { DpopProofs, provingRequestOf } from '../dpop/dpop-proofs.js';
import { presentedCallOf } from '../endpoint/challenge.js';
import {
  AvailableGuard,
  ClockGuard,
  enabledGuardOf,
  FlowEndpoint,
  FormGuard,
  LoginMethodGuard,
  PrefetchGuard,
  RevocationsKnownGuard,
  throttleGuardOf,
  WaitGuard,
} from '../endpoint/flow.endpoints.js';
import type { FlowRequest } from '../endpoint/flow.runner.js';
import { FlowRunner } from '../endpoint/flow.runner.js';
import { ENDPOINTS } from '../endpoint/flows.js';
import { ANSWER_FIELD, ANSWER_SESSION, Form } from '../endpoint/form.js';
import { Notices } from '../exchange/notices.js';
import { invalidField, notEnabled, requestRefusal } from '../refusals/oauth-refusal.js';
import type { BoundSignedIn } from './embedded-login.service.js';
import { EmbeddedLoginService } from './embedded-login.service.js';
import type { RedirectFault } from './local-redirect.js';
import { localRedirect } from './local-redirect.js';
import type { LoginSource } from './login-checks.js';

const FIELDS = { token: {}, redirectTo: {}, userId: {}, hostOrigin: {}, [ANSWER_FIELD]: {} };

/**
 * Reads the unchecked token, and for a renewal the local id of the expected user.
 * @rule 4.1.1 The token is required.
 * @param sent the fields as they were parsed
 * @throws OAuthRefusal `token_missing` or `field_invalid`
 */
export function readEmbedLoginForm(sent: unknown) {
  const form = new Form(sent, FIELDS).wellFormed();
  const token = form.trimmed('token');
  if (token === '') throw requestRefusal('token_missing', 'token is required');
  return {
    token,
    redirectTo: form.get('redirectTo'),
    userId: form.trimmed('userId') || undefined,
    isForSession: form.get(ANSWER_FIELD) === ANSWER_SESSION,
    hostOrigin: pageOrigin(form.trimmed('hostOrigin')),
  };
}

type EmbedLoginForm = ReturnType<typeof readEmbedLoginForm>;

/** 303 See Other: the browser continues with GET, so that going back does not post the token again (D24). */
const SEE_OTHER = 303;

@FlowEndpoint('embed')
@UseGuards(
  WaitGuard,
  AvailableGuard,
  LoginMethodGuard,
  PrefetchGuard,
  throttleGuardOf('embed'),
  enabledGuardOf('embed'),
  FormGuard,
  RevocationsKnownGuard,
  ClockGuard,
)
export class EmbedLoginController {
  constructor(
    private readonly flows: FlowRunner,
    private readonly embedLogin: EmbeddedLoginService,
    private readonly answers: HttpAnswers,
    private readonly notices: Notices,
    private readonly counts: MemoryCounts,
    private readonly proofs: DpopProofs,
    @Inject(LOGGER) private readonly log: Log,
  ) {}

  @Post(ENDPOINTS.embed.path)
  post(@Req() request: HttpRequest, @Res() response: object): Promise<void> {
    return this.login(request, response, request.body);
  }

  @Get(ENDPOINTS.embed.path)
  get(@Req() request: HttpRequest, @Res() response: object): Promise<void> {
    return this.login(request, response, request.query);
  }

  private async login(request: HttpRequest, response: object, sent: unknown): Promise<void> {
    const answer = await this.flows.run('embed', request, (received) => this.answer(sent, request, received));
    this.answers.reply(request, response, answer);
  }

  private async answer(sent: unknown, request: HttpRequest, received: FlowRequest): Promise<HttpAnswer> {
    const form = readEmbedLoginForm(sent);
    return form.isForSession
      ? this.answerSession(form, request, received)
      : this.answerCookie(form, request, received);
  }

  /** @throws OAuthRefusal `not_enabled` if the host has no bound sessions, `field_invalid` */
  private async answerSession(
    { token, userId, hostOrigin }: EmbedLoginForm,
    request: HttpRequest,
    received: FlowRequest,
  ): Promise<HttpAnswer> {
    if (!this.embedLogin.opensBound) throw notEnabled('Embed login with answer=session');
    if (request.method !== 'POST') throw invalidField('answer=session needs a POST');
    if (hostOrigin === undefined)
      throw invalidField(
        'hostOrigin must be the origin of the page with the frame, such as https://product.example',
      );
    const asked = {
      token,
      source: sourceOf(request),
      hostOrigin,
      proving: provingRequestOf(request),
      renewedToken: renewedTokenOf(request),
      expectedUserId: userId,
    };
    return this.boundAnswer(await this.embedLogin.loginBound(asked, received));
  }

  /** The answer has the names of RFC 6749 §5.1, and sets no cookie. */
  private boundAnswer({
    sessionToken,
    lifetimeSeconds,
    expiresAt,
    userId,
    rateLimit,
  }: BoundSignedIn): HttpAnswer {
    const nonce = this.proofs.nonce();
    const headers = {
      ...(rateLimit && rateLimitHeaders(rateLimit)),
      ...(nonce !== undefined && { 'dpop-nonce': nonce }),
    };
    const body = {
      session_token: sessionToken,
      token_type: 'DPoP',
      expires_in: lifetimeSeconds,
      expires_at: expiresAt.toISOString(),
      user: { id: userId },
    };
    return { status: 200, headers, body };
  }

  private async answerCookie(
    { token, redirectTo, userId }: EmbedLoginForm,
    request: HttpRequest,
    received: FlowRequest,
  ): Promise<HttpAnswer> {
    const { requestId } = received;
    const { location, fault: replacedRedirect } = localRedirect(redirectTo);
    const asked = {
      token,
      source: sourceOf(request),
      cookies: request.headers.cookie,
      expectedUserId: userId,
      replacedRedirect,
    };
    const { setCookie, rateLimit } = await this.embedLogin.login(asked, received);
    this.warnUnlessHttps(request, requestId);
    if (replacedRedirect !== undefined) this.warnOfReplacement(replacedRedirect, requestId);
    const headers = {
      'set-cookie': setCookie,
      location,
      ...(rateLimit && rateLimitHeaders(rateLimit)),
    };
    return { status: SEE_OTHER, headers };
  }

  /** @rule D27 Over plain HTTP the answer is the same; the log says why the cookie is lost, once a minute at most. */
  private warnUnlessHttps({ protocol }: HttpRequest, requestId: string): void {
    if (protocol === 'https' || isOver(this.counts, 'warning plain HTTP', 1)) return;
    this.log.warn(
      { requestId },
      'an embedded login came over plain HTTP: browsers drop its Secure cookie except on localhost; serve HTTPS, and ' +
        'behind a proxy forward X-Forwarded-Proto and let the server trust it',
    );
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

/** @throws OAuthRefusal `field_invalid` */
function renewedTokenOf(request: HttpRequest): string | undefined {
  if (request.headers.authorization === undefined) return undefined;
  const presented = presentedCallOf(request);
  if (presented?.isDpop === true) return presented.token;
  throw invalidField('Authorization must be DPoP with the session token of the session to be renewed');
}
