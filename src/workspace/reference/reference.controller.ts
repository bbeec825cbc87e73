// /api/v1/openapi.json and /api/v1/docs: the description of the API, for programs and for people.
import { Controller, Get, Header } from '@nestjs/common';
import { ApiDescription } from './api-description.js';

/** To be asked for each time: it changes with the version of the service only. */
const REVALIDATED = 'no-cache';

@Controller('api/v1')
export class ReferenceController {
  constructor(private readonly description: ApiDescription) {}

  @Get('openapi.json')
  @Header('content-type', 'application/json; charset=utf-8')
  @Header('cache-control', REVALIDATED)
  async document(): Promise<string> {
    return (await this.description.published()).json;
  }

  @Get('docs')
  @Header('content-type', 'text/html; charset=utf-8')
  @Header('cache-control', REVALIDATED)
  async page(): Promise<string> {
    return (await this.description.published()).page;
  }
}
