// Users and their sessions, embedded ones and operators', as an operator sees and ends them.
import { Delete, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import type { ChangeOperation } from '../../administration/operation.js';
import { DISABLE_USER, ENABLE_USER, SIGN_USER_OUT } from '../../administration/user-changes.operations.js';
import { listedUser } from '../../administration/users.operations.js';
import { Clock } from '../../platform/clock.js';
import { Revocations } from '../../token-exchange/instance.js';
import { UserRepository } from '../../users/user.repository.js';
import { JsonObject } from '../../workspace/api/body/json-body.js';
import type { PageQuery } from '../../workspace/api/query.pipe.js';
import { IdPipe, pageQuery } from '../../workspace/api/query.pipe.js';
import { UserProfileRepository } from '../../administration/accounts/user-profile.repository.js';
import type { LiveOperatorSession } from '../../administration/accounts/operator-session.repository.js';
import { OperatorRefusal } from '../sign-in/operator-refusal.filter.js';
import { OperatorSessionService } from '../sign-in/operator-session.service.js';
import type { EmbeddedSession, SessionQuery } from './embedded-session.repository.js';
import { EmbeddedSessionRepository } from './embedded-session.repository.js';
import { Call, OperatorController } from './operator-call.decorator.js';
import type { OperatorCall } from './operator-calls.js';
import { OperatorCalls } from './operator-calls.js';
import { MOST_LISTED, pageOf } from './pages.js';
import {
  END_OPERATOR_SESSION,
  END_SESSION,
  SEARCH_USERS,
  checkPlace,
  placeAt,
  placeIn,
  searchSessions,
} from './person.operations.js';

const OPERATOR_SESSIONS = pageQuery({}, MOST_LISTED);

@OperatorController()
export class OperatorPersonController {
  constructor(
    private readonly calls: OperatorCalls,
    private readonly users: UserRepository,
    private readonly profiles: UserProfileRepository,
    private readonly embedded: EmbeddedSessionRepository,
    private readonly operatorSessions: OperatorSessionService,
    private readonly revocations: Revocations,
    private readonly clock: Clock,
  ) {}

  @Post('users/search')
  @HttpCode(200)
  search(@JsonObject() body: Record<string, unknown>, @Call() call: OperatorCall) {
    return this.calls.readOne(SEARCH_USERS, body, call);
  }

  @Get('users/:userId')
  show(@Param('userId', IdPipe) id: string, @Call() call: OperatorCall) {
    return this.calls.show('users show', { userId: id }, call, () => this.userAnswer(id));
  }

  private async userAnswer(id: string) {
    const user = await this.users.findById(id);
    if (user === undefined) throw new OperatorRefusal('not_found');
    const [profile, operatorSessions] = await Promise.all([
      this.profiles.find(id, this.clock.now()),
      this.operatorSessions.countOfUser(id),
    ]);
    if (profile === undefined) throw new OperatorRefusal('not_found');
    return { ...listedUser(user), ...profile, operatorSessions };
  }

  @Post('users/:userId/sign-out')
  @HttpCode(200)
  signOut(@Param('userId', IdPipe) id: string, @Call() call: OperatorCall) {
    return this.change(SIGN_USER_OUT, id, call);
  }

  @Post('users/:userId/disable')
  @HttpCode(200)
  disable(@Param('userId', IdPipe) id: string, @Call() call: OperatorCall) {
    return this.change(DISABLE_USER, id, call);
  }

  @Post('users/:userId/enable')
  @HttpCode(200)
  enable(@Param('userId', IdPipe) id: string, @Call() call: OperatorCall) {
    return this.change(ENABLE_USER, id, call);
  }

  /** Revoked sessions open nothing, but their rows stay until they expire: so a page may have fewer. */
  @Post('sessions/search')
  @HttpCode(200)
  async sessions(@JsonObject() body: Record<string, unknown>, @Call() call: OperatorCall) {
    const find = (query: SessionQuery) => this.embedded.list(this.clock.now(), query);
    const { data, nextCursor } = await this.calls.readOne(searchSessions(find), body, call);
    return { data: data.filter((one) => !this.isRevoked(one)).map(embeddedAnswer), nextCursor };
  }

  @Delete('sessions/:id')
  @HttpCode(204)
  async end(@Param('id', IdPipe) id: string, @Call() call: OperatorCall): Promise<void> {
    await this.calls.perform(END_SESSION, { id }, call);
  }

  @Get('operator-sessions')
  listOperators(@Query(OPERATOR_SESSIONS) query: PageQuery, @Call() call: OperatorCall) {
    return this.calls.show('operator-sessions list', {}, call, () => this.operatorPage(query, call));
  }

  private async operatorPage({ cursor, limit }: PageQuery, { operator }: OperatorCall) {
    const place = placeIn(cursor === undefined ? undefined : readPlace(cursor));
    const after = place && { id: place.id, openedAt: place.moment };
    const rows = await this.operatorSessions.list(after, limit + 1);
    const { data, nextCursor } = pageOf(rows, limit, ({ id, openedAt }) => placeAt(id, openedAt));
    return { data: data.map((row) => operatorAnswer(row, operator.id)), nextCursor };
  }

  @Delete('operator-sessions/:id')
  @HttpCode(204)
  async endOperator(@Param('id', IdPipe) id: string, @Call() call: OperatorCall): Promise<void> {
    await this.calls.perform(END_OPERATOR_SESSION, { id }, call);
  }

  private async change<R>(operation: ChangeOperation<{ user: string }, R>, user: string, call: OperatorCall) {
    if ((await this.users.findById(user)) === undefined) throw new OperatorRefusal('not_found');
    return this.calls.perform(operation, { user }, call);
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

/** @param ownId the id of the session that makes this call */
function operatorAnswer(session: LiveOperatorSession, ownId: string) {
  const { id, userId, email, openedAt, lastUsedAt, expiresAt, clientAddress } = session;
  const user = { id: userId, email };
  return { id, user, openedAt, lastUsedAt, expiresAt, clientAddress, current: id === ownId };
}

function readPlace(cursor: string): string {
  const checked = checkPlace(cursor);
  if ('rule' in checked) throw new OperatorRefusal('bad_request');
  return checked.value;
}
