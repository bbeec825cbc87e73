// Users and their sessions, embedded and operators', for operators.
import { Delete, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import type { LiveOperatorSession } from '../../administration/accounts/operator-session.repository.js';
import { Administration } from '../../administration/administration.js';
import { UserChangeOperations } from '../../administration/users/users.operations.js';
import { Revocations } from '../../token-exchange/instance.js';
import { UserRepository } from '../../users/user.repository.js';
import { JsonObject } from '../../workspace/api/body/json-body.js';
import type { PageQuery } from '../../workspace/api/request-input.pipe.js';
import { IdPipe, pageQuery } from '../../workspace/api/request-input.pipe.js';
import { MAX_LIMIT } from '../api/list-page.js';
import type { OperatorCall } from '../api/operator-call.decorator.js';
import { Call, OperatorController } from '../api/operator-call.decorator.js';
import { OperatorRefusal } from '../sign-in/operator-refusal.filter.js';
import type { EmbeddedSession } from './embedded-session.repository.js';
import { PersonOperations } from './person.operations.js';

const OPERATOR_SESSIONS = pageQuery({}, MAX_LIMIT);

@OperatorController()
export class OperatorPersonController {
  constructor(
    private readonly administration: Administration,
    private readonly people: PersonOperations,
    private readonly changes: UserChangeOperations,
    private readonly users: UserRepository,
    private readonly revocations: Revocations,
  ) {}

  @Post('users/search')
  @HttpCode(200)
  search(@JsonObject() body: Record<string, unknown>, @Call() call: OperatorCall) {
    return this.administration.perform(this.people, 'search', body, call);
  }

  @Get('users/:userId')
  show(@Param('userId', IdPipe) id: string, @Call() call: OperatorCall) {
    return this.administration.perform(this.people, 'show', { id }, call);
  }

  @Post('users/:userId/sign-out')
  @HttpCode(200)
  signOut(@Param('userId', IdPipe) id: string, @Call() call: OperatorCall) {
    return this.change('signOut', id, call);
  }

  @Post('users/:userId/disable')
  @HttpCode(200)
  disable(@Param('userId', IdPipe) id: string, @Call() call: OperatorCall) {
    return this.change('disable', id, call);
  }

  @Post('users/:userId/enable')
  @HttpCode(200)
  enable(@Param('userId', IdPipe) id: string, @Call() call: OperatorCall) {
    return this.change('enable', id, call);
  }

  /** Omits revoked sessions, whose rows stay until they expire: a page may therefore have fewer. */
  @Post('sessions/search')
  @HttpCode(200)
  async sessions(@JsonObject() body: Record<string, unknown>, @Call() call: OperatorCall) {
    const { data, nextCursor } = await this.administration.perform(this.people, 'listSessions', body, call);
    return { data: data.filter((one) => !this.isRevoked(one)).map(embeddedAnswer), nextCursor };
  }

  @Delete('sessions/:id')
  @HttpCode(204)
  async end(@Param('id', IdPipe) id: string, @Call() call: OperatorCall): Promise<void> {
    await this.administration.perform(this.people, 'endSession', { id }, call);
  }

  @Get('operator-sessions')
  async listOperators(@Query(OPERATOR_SESSIONS) query: PageQuery, @Call() call: OperatorCall) {
    const found = await this.administration.perform(this.people, 'listOperatorSessions', query, call);
    const data = found.data.map((row) => operatorAnswer(row, call.session.id));
    return { data, nextCursor: found.nextCursor };
  }

  @Delete('operator-sessions/:id')
  @HttpCode(204)
  async endOperator(@Param('id', IdPipe) id: string, @Call() call: OperatorCall): Promise<void> {
    await this.administration.perform(this.people, 'endOperatorSession', { id }, call);
  }

  private async change(method: 'signOut' | 'disable' | 'enable', user: string, call: OperatorCall) {
    if ((await this.users.findById(user)) === undefined) throw new OperatorRefusal('not_found');
    return this.administration.perform(this.changes, method, { user }, call);
  }

  private isRevoked({ openedAt, signedBy: keys }: EmbeddedSession): boolean {
    return this.revocations.hasRefused({ keys, sinceMs: openedAt.getTime() });
  }
}

function embeddedAnswer(session: EmbeddedSession) {
  const { id, userId, email, loginOrigin, openedAt, expiresAt, signedBy = [] } = session;
  const issuers = [...new Set(signedBy.map(({ issuer }) => issuer))];
  return { id, user: { id: userId, email }, loginOrigin, openedAt, expiresAt, issuers };
}

/** @param ownId the id of the calling operator's session */
function operatorAnswer(session: LiveOperatorSession, ownId: string) {
  const { id, userId, email, openedAt, lastUsedAt, expiresAt, clientAddress } = session;
  const user = { id: userId, email };
  return { id, user, openedAt, lastUsedAt, expiresAt, clientAddress, current: id === ownId };
}
