// The pages that are not sent as plain files, and the page for unknown addresses.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ArgumentsHost } from '@nestjs/common';
import { Catch, Inject, Injectable, NotFoundException } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { DatabaseOutages } from '../platform/http/database-outages.js';
import { ErrorFilter } from '../platform/http/error.filter.js';
import { SOURCE_DIRECTORY } from '../platform/http/page.controller.js';
import { LOGGER } from '../platform/log/log.js';

export const HTML = 'text/html; charset=utf-8';

@Injectable()
export class PageTemplates {
  /** The page for unknown addresses. */
  readonly notFound: string;
  /** The page that the frame shows. */
  readonly page: string;

  constructor(@Inject(SOURCE_DIRECTORY) sourceDirectory: string) {
    const read = (name: string) => readFileSync(join(sourceDirectory, 'web', 'public', name), 'utf8');
    this.notFound = read('not-found.html');
    this.page = read('index.html');
  }
}

/** Paths for programs, which cannot use a page even if they accept one. */
const FOR_PROGRAMS = /^\/(?:rest|api|assets|\.well-known|healthz)(?:\/|$)/;

/** Handles every error that no controller's filter handles. Navigation to an unknown address gets a page. */
@Catch()
export class InstanceErrorFilter extends ErrorFilter {
  constructor(
    // In the same positions as in the base class, for which Nest has recorded them.
    @Inject(LOGGER) logger: Logger,
    outages: DatabaseOutages,
    private readonly templates: PageTemplates,
  ) {
    super(logger, outages);
  }

  override async catch(error: unknown, host: ArgumentsHost): Promise<void> {
    const http = host.switchToHttp();
    const isUnknown = error instanceof NotFoundException && isVisit(http.getRequest<FastifyRequest>());
    if (!isUnknown) return super.catch(error, host);
    await http.getResponse<FastifyReply>().status(404).type(HTML).send(this.templates.notFound);
  }
}

/** Whether a browser navigates to a path that has no route. */
function isVisit({ is404, method, url, headers, server }: FastifyRequest): boolean {
  const [path = ''] = url.split('?', 1);
  if (!is404 || !['GET', 'HEAD'].includes(method) || FOR_PROGRAMS.test(path)) return false;
  return (headers.accept ?? '').includes('text/html') && server.knownPaths.methodsAt(url).length === 0;
}
