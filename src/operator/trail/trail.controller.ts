// The audit trail, the state of the instance, and explanations of tokens, for operators.
import { Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { Administration } from '../../administration/administration.js';
import { REFUSAL_REASONS, TokenOperations } from '../../administration/explain/explain-token.operation.js';
import { UsageOperations } from '../../administration/usage/usage.operations.js';
import { AUDIT_EVENT_NAMES } from '../../audit/instance-events.js';
import { JsonObject } from '../../workspace/api/body/json-body.js';
import type { OperatorCall } from '../api/operator-call.decorator.js';
import { Call, OperatorController } from '../api/operator-call.decorator.js';
import { OverviewReader } from '../api/overview.js';
import { inLabels } from '../entries/entry-form.js';
import { OperatorRefusal } from '../sign-in/operator-refusal.filter.js';
import { TrailOperations } from './trail.operation.js';

@OperatorController()
export class OperatorTrailController {
  constructor(
    private readonly administration: Administration,
    private readonly tokens: TokenOperations,
    private readonly trail: TrailOperations,
    private readonly instance: OverviewReader,
    private readonly users: UsageOperations,
  ) {}

  @Get('overview')
  overview(@Call() call: OperatorCall) {
    return this.administration.perform(this.instance, 'read', {}, call);
  }

  @Get('activity')
  activity(@Query() query: Record<string, unknown>, @Call() call: OperatorCall) {
    return this.administration.perform(this.trail, 'countActivity', withNumbers(query), call);
  }

  @Get('usage')
  async usage(@Query() query: Record<string, unknown>, @Call() call: OperatorCall) {
    return { data: await this.administration.perform(this.users, 'show', withNumbers(query), call) };
  }

  @Get('sessions/history')
  sessions(@Call() call: OperatorCall) {
    return this.administration.perform(this.trail, 'countSessions', {}, call);
  }

  @Post('refusals/search')
  @HttpCode(200)
  refusals(@JsonObject() body: Record<string, unknown>, @Call() call: OperatorCall) {
    return this.administration.perform(this.trail, 'findRefusals', body, call);
  }

  @Post('refusals/groups')
  @HttpCode(200)
  refusalGroups(@JsonObject() body: Record<string, unknown>, @Call() call: OperatorCall) {
    return this.administration.perform(this.trail, 'groupRefusals', body, call);
  }

  @Post('events/search')
  @HttpCode(200)
  events(@JsonObject() body: Record<string, unknown>, @Call() call: OperatorCall) {
    return this.administration.perform(this.trail, 'findEvents', body, call);
  }

  @Get('requests/:requestId')
  async request(@Param('requestId') requestId: string, @Call() call: OperatorCall) {
    const explained = await this.administration.perform(this.tokens, 'explain', { requestId }, call);
    if ('token' in explained) throw new Error('a request was asked for, and a token explained');
    const { request } = explained;
    return { ...request, events: request.events.map(inLabels) };
  }

  @Get('reasons')
  reasons() {
    return { data: REFUSAL_REASONS, events: AUDIT_EVENT_NAMES };
  }

  /** @throws OperatorRefusal for a request id, which has its own route */
  @Post('explain')
  @HttpCode(200)
  async explain(@JsonObject() body: Record<string, unknown>, @Call() call: OperatorCall) {
    if ('requestId' in body) throw new OperatorRefusal('bad_request');
    const explained = await this.administration.perform(this.tokens, 'explain', body, call);
    if ('request' in explained) throw new Error('a token was asked for, and a request explained');
    const { token } = explained;
    return { ...token, refusal: token.refusal && inLabels(token.refusal) };
  }
}

/** Converts numbers, because a query contains only strings. */
function withNumbers(query: Record<string, unknown>): Record<string, unknown> {
  const read = Object.entries(query).map(([name, value]) =>
    ['buckets', 'lastHours', 'months'].includes(name) && typeof value === 'string'
      ? [name, Number(value)]
      : [name, value],
  );
  return Object.fromEntries(read) as Record<string, unknown>;
}
