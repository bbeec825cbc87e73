// The page for host pages' frames: who may frame it, and the data that it needs from the instance.
import { Controller, Get, Header, Inject, Module, Query, Res } from '@nestjs/common';
import { AccessModule } from '../access/access.module.js';
import type { Startup } from '../config/startup.js';
import { STARTUP } from '../config/startup.js';
import { Clock } from '../platform/clock.js';
import { framingPolicy } from '../platform/http/security-headers.js';
import { TemporarilyUnavailableException } from '../platform/http/temporarily-unavailable.exception.js';
import { pageOrigin } from '../platform/text/origin.js';
import { DpopProofs } from '../token-exchange/instance.js';
import { HTML, PageTemplates } from '../web/page-templates.js';
import { WebModule } from '../web/web.module.js';
import { FrameAncestors } from './frame-ancestors.js';

interface Reply {
  header(name: string, value: string): unknown;
}

@Controller('frame')
export class FrameController {
  private readonly baseUrl: string;

  constructor(
    @Inject(STARTUP) { config }: Startup,
    private readonly templates: PageTemplates,
    private readonly ancestors: FrameAncestors,
    private readonly proofs: DpopProofs,
    private readonly clock: Clock,
  ) {
    this.baseUrl = config.baseUrl;
  }

  /**
   * The page is the same for every user, but not for every host page, so browsers do not cache it. Host pages
   * with an embedder policy may show it.
   */
  @Get()
  @Header('content-type', HTML)
  @Header('cross-origin-embedder-policy', 'require-corp')
  @Header('cross-origin-resource-policy', 'cross-origin')
  page(@Query('host') host: unknown, @Res({ passthrough: true }) reply: Reply): string {
    reply.header('content-security-policy', framingPolicy(this.ancestors.allowing(originIn(host))));
    const data = `<html data-base-url="${this.baseUrl}" data-server-time="${this.time()}"`;
    return this.templates.page.replace('<html', data);
  }

  /**
   * Tells the script why the page has not loaded. Pages of any site may ask, because the page's own policy
   * says the same.
   * @rule D50 Each cause has a name, which is reported at once.
   */
  @Get('check')
  @Header('access-control-allow-origin', '*')
  @Header('cross-origin-resource-policy', 'cross-origin')
  check(@Query('host') host: unknown): { allowed: boolean; baseUrl: string } {
    const origin = originIn(host);
    const allowing = this.ancestors.allowing(origin);
    const allowed = allowing === undefined || (origin !== undefined && allowing.includes(origin));
    return { allowed, baseUrl: this.baseUrl };
  }

  /**
   * The time with which proofs are checked. Before it is known, the page learns it from the response to its
   * first proof.
   */
  private time(): number {
    try {
      return this.proofs.time();
    } catch (error) {
      if (error instanceof TemporarilyUnavailableException) return this.clock.nowMs() / 1000;
      throw error;
    }
  }
}

function originIn(host: unknown): string | undefined {
  return typeof host === 'string' ? pageOrigin(host) : undefined;
}

@Module({ imports: [AccessModule, WebModule], controllers: [FrameController] })
export class FrameModule {}
