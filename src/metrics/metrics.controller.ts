// GET /metrics, in Prometheus' text format.
import { Controller, Get, NotFoundException, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Metrics } from './metrics.js';

@Controller('metrics')
export class MetricsController {
  constructor(private readonly metrics: Metrics) {}

  /** Under this spelling only: the router would take `/%6detrics` too, which a rule of a reverse proxy may let pass. */
  @Get()
  async scrape(@Req() { url }: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    if (url.split('?', 1)[0] !== '/metrics') throw new NotFoundException();
    const { registry } = this.metrics;
    await reply.type(registry.contentType).send(await this.metrics.sharedText());
  }
}
