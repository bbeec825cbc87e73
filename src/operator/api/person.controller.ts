// Users and their sessions, embedded ones and operators', as an operator sees and ends them.
import { Delete, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import type { ListedUser } from '../../administration/list-users.operation.js';
import type { ShownUser } from '../../administration/show-user.operation.js';
import { listedUser } from '../../administration/list-users.operation.js';
import type { SignedOutUser } from '../../administration/sign-user-out.operation.js';
import { SIGN_USER_OUT } from '../../administration/sign-user-out.operation.js';
import type { SwitchedUser } from '../../administration/switch-user.operation.js';
import { DISABLE_USER, ENABLE_USER } from '../../administration/switch-user.operation.js';
import { Clock } from '../../platform/clock.js';
import { Revocations } from '../../token-exchange/advanced.js';
import { UserRepository } from '../../users/user.repository.js';
import { JsonObject } from '../../workspace/api/body/json-body.js';
import { IdPipe, QueryPipe, readId } from '../../workspace/api/query.pipe.js';
import { UserProfileRepository } from '../../administration/accounts/user-profile.repository.js';
import type { LiveOperatorSession } from '../../administration/accounts/operator-session.repository.js';
import { OperatorRefusal } from '../sign-in/operator-refusal.js';
import { OperatorSessionService } from '../sign-in/operator-session.service.js';
import type { EmbeddedSession } from './embedded-session.repository.js';
import { EmbeddedSessionRepository } from './embedded-session.repository.js';
import { END_OPERATOR_SESSION, END_SESSION } from './end-session.operation.js';
import { Call, OperatorController } from './operator-call.decorator.js';
import type { OperatorCall } from './operator-calls.js';
import { OperatorCalls } from './operator-calls.js';
import type { Page } from './pages.js';
import { MOST_LISTED, pageOf } from './pages.js';
import { SEARCH_USERS } from './user-lists.operation.js';

/** Times are ISO 8601. */
interface EmbeddedSessionAnswer {
  readonly id: string;
  readonly user: { readonly id: string; readonly email: string };
  readonly loginOrigin: string | null;
  readonly openedAt: string;
  readonly expiresAt: string;
  readonly issuers: readonly string[];
}

interface OperatorSessionAnswer {
  readonly id: string;
  readonly user: { readonly id: string; readonly email: string };
  readonly openedAt: string;
  readonly lastUsedAt: string;
  readonly expiresAt: string;
  readonly clientAddress: string;
  /** Whether it is that of the call. */
  readonly current: boolean;
}

interface SessionQuery {
  readonly userId?: string;
  readonly cursor?: string;
  readonly limit: number;
}

interface UserAnswer extends ShownUser {
  readonly operatorSessions: number;
}

const SESSIONS = new QueryPipe({ userId: readId }, MOST_LISTED);
const OPERATOR_SESSIONS = new QueryPipe({}, MOST_LISTED);

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
  search(@JsonObject() body: Record<string, unknown>, @Call() call: OperatorCall): Promise<Page<ListedUser>> {
    return this.calls.readOne(SEARCH_USERS, body, call);
  }

  @Get('users/:userId')
  show(@Param('userId', IdPipe) id: string, @Call() call: OperatorCall): Promise<UserAnswer> {
    return this.calls.show('users show', { userId: id }, call, () => this.userAnswer(id));
  }

  private async userAnswer(id: string): Promise<UserAnswer> {
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
  async signOut(@Param('userId', IdPipe) user: string, @Call() call: OperatorCall): Promise<SignedOutUser> {
    await this.refuseUnknown(user);
    return this.calls.perform(SIGN_USER_OUT, { user }, call);
  }

  @Post('users/:userId/disable')
  @HttpCode(200)
  async disable(@Param('userId', IdPipe) user: string, @Call() call: OperatorCall): Promise<SwitchedUser> {
    await this.refuseUnknown(user);
    return this.calls.perform(DISABLE_USER, { user }, call);
  }

  @Post('users/:userId/enable')
  @HttpCode(200)
  async enable(@Param('userId', IdPipe) user: string, @Call() call: OperatorCall): Promise<SwitchedUser> {
    await this.refuseUnknown(user);
    return this.calls.perform(ENABLE_USER, { user }, call);
  }

  @Get('sessions')
  sessions(@Query(SESSIONS) query: SessionQuery, @Call() call: OperatorCall) {
    const { userId } = query;
    const things: Record<string, string> = userId === undefined ? {} : { userId };
    return this.calls.show('sessions list', things, call, () => this.sessionPage(query));
  }

  private async sessionPage({ userId, cursor, limit }: SessionQuery): Promise<Page<EmbeddedSessionAnswer>> {
    const page = { userId, afterId: idIn(cursor), limit: limit + 1 };
    const rows = await this.embedded.list(this.clock.now(), page);
    const { data, nextCursor } = pageOf(
      rows,
      limit,
      (row) => row,
      ({ id }) => id,
    );
    // The rows of what was taken back stay until they end by themselves, and open nothing.
    return { data: data.filter((row) => !this.isRevoked(row)).map(embeddedAnswer), nextCursor };
  }

  @Delete('sessions/:id')
  @HttpCode(204)
  async end(@Param('id', IdPipe) id: string, @Call() call: OperatorCall): Promise<void> {
    await this.calls.perform(END_SESSION, { id }, call);
  }

  @Get('operator-sessions')
  listOperators(@Query(OPERATOR_SESSIONS) query: SessionQuery, @Call() call: OperatorCall) {
    return this.calls.show('operator-sessions list', {}, call, () => this.operatorPage(query, call));
  }

  private async operatorPage(
    { cursor, limit }: SessionQuery,
    { operator }: OperatorCall,
  ): Promise<Page<OperatorSessionAnswer>> {
    const rows = await this.operatorSessions.list(idIn(cursor), limit + 1);
    return pageOf(
      rows,
      limit,
      (row) => operatorAnswer(row, operator.id),
      ({ id }) => id,
    );
  }

  @Delete('operator-sessions/:id')
  @HttpCode(204)
  async endOperator(@Param('id', IdPipe) id: string, @Call() call: OperatorCall): Promise<void> {
    await this.calls.perform(END_OPERATOR_SESSION, { id }, call);
  }

  private async refuseUnknown(id: string): Promise<void> {
    if ((await this.users.findById(id)) === undefined) throw new OperatorRefusal('not_found');
  }

  private isRevoked({ openedAt, vouchedBy: keys }: EmbeddedSession): boolean {
    return this.revocations.hasRefused({ keys, sinceMs: openedAt.getTime() });
  }
}

function embeddedAnswer(session: EmbeddedSession): EmbeddedSessionAnswer {
  const { id, userId, email, loginOrigin, openedAt, expiresAt, vouchedBy = [] } = session;
  return {
    id,
    user: { id: userId, email },
    loginOrigin,
    openedAt: openedAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
    issuers: [...new Set(vouchedBy.map(({ issuer }) => issuer))],
  };
}

function operatorAnswer(session: LiveOperatorSession, ownId: string): OperatorSessionAnswer {
  const { id, userId, email, openedAt, lastUsedAt, expiresAt, clientAddress } = session;
  return {
    id,
    user: { id: userId, email },
    openedAt: openedAt.toISOString(),
    lastUsedAt: lastUsedAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
    clientAddress,
    current: id === ownId,
  };
}

function idIn(cursor: string | undefined): string | undefined {
  return cursor === undefined ? undefined : readId(cursor, 'cursor');
}
