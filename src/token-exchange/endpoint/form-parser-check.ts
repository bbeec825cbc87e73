// Warns at the start if the application has no parser for forms.
import type { OnApplicationBootstrap } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';

/** The parts of a Fastify instance or Express application that show its parsers. */
interface Server {
  hasContentTypeParser?(type: string): boolean;
  readonly router?: { readonly stack?: readonly { readonly handle?: { readonly name: string } }[] };
}

@Injectable()
export class FormParserCheck implements OnApplicationBootstrap {
  constructor(
    private readonly host: HttpAdapterHost,
    @Inject(LOGGER) private readonly log: Log,
  ) {}

  onApplicationBootstrap(): void {
    if (readsForms(this.host.httpAdapter.getInstance<Server>())) return;
    this.log.warn(
      {},
      'no parser of this application reads forms, so every request to token exchange will fail: leave `bodyParser` on, or ' +
        'parse application/x-www-form-urlencoded yourself',
    );
  }
}

function readsForms(server: Server): boolean {
  if (server.hasContentTypeParser) return server.hasContentTypeParser('application/x-www-form-urlencoded');
  return server.router?.stack?.some(({ handle }) => handle?.name === 'urlencodedParser') ?? false;
}
