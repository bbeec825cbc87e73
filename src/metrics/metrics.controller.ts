// GET /metrics, in Prometheus' text format.
import { Controller, Get, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Metrics } from './metrics.js';

@Controller('metrics')
export class MetricsController {
  constructor(private readonly metrics: Metrics) {}

  @Get()
  async scrape(@Res() reply: FastifyReply): Promise<void> {
    const { registry } = this.metrics;
    await reply.type(registry.contentType).send(await this.metrics.text());
  }
}
