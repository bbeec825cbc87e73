// /api/v1/openapi.json and /api/v1/docs: the description of the API, for programs and for people.
import { Controller, Get, Header } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { ApiDescription } from './api-description.js';

/** To be asked for each time: it changes with the version of the service only. */
const REVALIDATED = 'no-cache';

@Controller('api/v1')
@ApiExcludeController()
export class ReferenceController {
  constructor(private readonly description: ApiDescription) {}

  @Get('openapi.json')
  @Header('content-type', 'application/json; charset=utf-8')
  @Header('cache-control', REVALIDATED)
  document(): string {
    return this.description.json;
  }

  @Get('docs')
  @Header('content-type', 'text/html; charset=utf-8')
  @Header('cache-control', REVALIDATED)
  page(): string {
    return this.description.page;
  }
}
