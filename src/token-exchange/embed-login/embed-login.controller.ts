// POST and GET /rest/auth/embed: signs a browser in and sends it on.
import { Body, Controller, Get, Post, Req, Res, UseFilters, UseGuards } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  EmbedLoginEnabledGuard,
  EmbedLoginThrottlerGuard,
  FormOnlyGuard,
  LicensedGuard,
} from '../edge/flow.guards.js';
import { EmbedErrorFilter } from './embed-error.filter.js';
import { readEmbedLoginForm } from './embed-login.form.js';
import { EmbedLoginService } from './embed-login.service.js';
import { localRedirect } from './local-redirect.js';
import type { LoginSource } from './login-origin.js';
import { PlainHttpWarning } from './plain-http.warning.js';

/** 303 See Other: the browser goes on with GET, so that going back does not post the token again (D24). */
const SEE_OTHER = 303;

export const EMBED_PATH = '/rest/auth/embed';

@Controller(EMBED_PATH)
@UseFilters(EmbedErrorFilter)
@UseGuards(LicensedGuard, EmbedLoginThrottlerGuard, EmbedLoginEnabledGuard, FormOnlyGuard)
export class EmbedLoginController {
  constructor(
    private readonly embedLogin: EmbedLoginService,
    private readonly plainHttp: PlainHttpWarning,
  ) {}

  @Post()
  post(
    @Body() body: Buffer | undefined,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.login(body ?? '', request, reply);
  }

  @Get()
  get(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const url = request.raw.url ?? '';
    return this.login(url.includes('?') ? url.slice(url.indexOf('?') + 1) : '', request, reply);
  }

  private async login(
    encoded: Uint8Array | string,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<void> {
    const { token, redirectTo } = readEmbedLoginForm(encoded);
    const { id: requestId, headers } = request;
    const attempt = { token, source: sourceOf(request), cookies: headers.cookie, requestId };
    const session = await this.embedLogin.login(attempt);
    this.plainHttp.warnUnlessHttps(request.protocol, requestId);
    await reply
      .header('set-cookie', session.setCookie)
      .header('location', localRedirect(redirectTo))
      .status(SEE_OTHER)
      .send();
  }
}

function sourceOf({ method, headers }: FastifyRequest): LoginSource {
  return {
    method: method === 'POST' ? 'POST' : 'GET',
    origin: headers.origin,
    fetchSite: headers['sec-fetch-site'],
  };
}
