// Finds users and their live sessions, embedded and operators', and ends sessions.
import { Injectable } from '@nestjs/common';
import type { LiveOperatorSession } from '../../administration/accounts/operator-session.repository.js';
import { OperatorSessionRepository } from '../../administration/accounts/operator-session.repository.js';
import { UserProfileRepository } from '../../administration/accounts/user-profile.repository.js';
import type { ChangeWork } from '../../administration/operation.js';
import { Change, CommandError, inputOf, Read } from '../../administration/operation.js';
import { OwnerProtection } from '../../administration/users/owner-protection.js';
import { listedUser } from '../../administration/users/users.operations.js';
import { TrailSummaryReader } from '../../audit/trail-summary.reader.js';
import type { Checked } from '../../platform/input/schemas.js';
import { readBy, storableString, stringUpTo, uuid, wholeNumber } from '../../platform/input/schemas.js';
import { isId } from '../../platform/text/id.js';
import { auditEvent, ClockDifference, SessionRepository } from '../../token-exchange/instance.js';
import type { User } from '../../users/user.repository.js';
import { UserRepository } from '../../users/user.repository.js';
import type { Page } from '../api/list-page.js';
import { DEFAULT_LIMIT, MAX_LIMIT, pageOf } from '../api/list-page.js';
import { OperatorRefusal } from '../sign-in/operator-refusal.filter.js';
import { OperatorSessionService } from '../sign-in/operator-session.service.js';
import type { EmbeddedSession } from './embedded-session.repository.js';
import { EmbeddedSessionRepository } from './embedded-session.repository.js';

const MAX_SEARCHED_CHARACTERS = 320;

const readUserSearch = inputOf({
  /** An id, or the beginning of an e-mail address; empty: all users. */
  search: stringUpTo(MAX_SEARCHED_CHARACTERS).optional(),
  limit: wholeNumber(1, MAX_LIMIT).optional(),
  /** The id of the previous page's last user, because cursors must not contain an e-mail address. */
  cursor: uuid().optional(),
});
type UserSearch = ReturnType<typeof readUserSearch>;

const readSessionSearch = inputOf({
  /** A user's id, or the beginning of an e-mail address. */
  user: storableString().optional(),
  issuer: storableString().optional(),
  limit: wholeNumber(1, MAX_LIMIT).optional(),
  cursor: readBy(storableString(), checkPlace).optional(),
});

const readOperatorSessions = inputOf({
  limit: wholeNumber(1, MAX_LIMIT).optional(),
  cursor: readBy(storableString(), checkPlace).optional(),
});

const readChosen = inputOf({ id: uuid() });
type Chosen = ReturnType<typeof readChosen>;

@Injectable()
export class PersonOperations {
  constructor(
    private readonly users: UserRepository,
    private readonly profiles: UserProfileRepository,
    private readonly trail: TrailSummaryReader,
    private readonly sessions: SessionRepository,
    private readonly embedded: EmbeddedSessionRepository,
    private readonly operatorRows: OperatorSessionRepository,
    private readonly operatorSessions: OperatorSessionService,
    private readonly owner: OwnerProtection,
    private readonly clocks: ClockDifference,
  ) {}

  /** One page. The first page of all users includes their total number. */
  @Read('users search', readUserSearch)
  async search({ search = '', limit = DEFAULT_LIMIT, cursor }: UserSearch) {
    const found = await this.find({ search, limit, cursor });
    const { data, nextCursor } = pageOf(found, limit, ({ id }) => id);
    const lastSignIns = await this.trail.lastSignIns(data.map(({ id }) => id));
    const total = search === '' && cursor === undefined ? await this.profiles.count() : null;
    // Null if none of the user's latest events is a sign-in.
    const shown = data.map((user) => ({
      ...listedUser(user),
      lastSignInAt: lastSignIns.get(user.id) ?? null,
    }));
    return { data: shown, nextCursor, total };
  }

  /** Returns one more user than a page has, if there are more. */
  private async find({
    search,
    limit,
    cursor,
  }: Required<Omit<UserSearch, 'cursor'>> & Pick<UserSearch, 'cursor'>): Promise<User[]> {
    if (isId(search)) {
      const user = await this.users.findById(search.toLowerCase());
      return user === undefined ? [] : [user];
    }
    const last = cursor === undefined ? undefined : await this.users.findById(cursor);
    if (cursor !== undefined && last === undefined)
      throw new CommandError('The user of the cursor was deleted.');
    return this.users.search(search, last?.normalizedEmail, limit + 1);
  }

  @Read('users show', readChosen, { targets: ({ id }) => ({ userId: id }) })
  async show({ id }: Chosen) {
    const user = await this.users.findById(id);
    if (user === undefined) throw new OperatorRefusal('not_found');
    const [profile, operatorSessions] = await Promise.all([
      this.profiles.find(id),
      this.operatorSessions.countOfUser(id),
    ]);
    if (profile === undefined) throw new OperatorRefusal('not_found');
    return { ...listedUser(user), ...profile, operatorSessions };
  }

  @Read('sessions list', readSessionSearch, {
    targets: ({ user }): Record<string, string> =>
      user !== undefined && isId(user) ? { userId: user.toLowerCase() } : {},
  })
  async listSessions(search: ReturnType<typeof readSessionSearch>): Promise<Page<EmbeddedSession>> {
    const { user, issuer, limit = DEFAULT_LIMIT, cursor } = search;
    const whose = user === undefined ? {} : isId(user) ? { userId: user.toLowerCase() } : { email: user };
    const place = placeIn(cursor);
    const after = place && { id: place.id, expiresAt: place.moment };
    const rows = await this.embedded.list({ ...whose, issuer, after, limit: limit + 1 });
    return pageOf(rows, limit, ({ id, expiresAt }) => placeAt(id, expiresAt));
  }

  @Read('operator-sessions list', readOperatorSessions)
  async listOperatorSessions({
    limit = DEFAULT_LIMIT,
    cursor,
  }: ReturnType<typeof readOperatorSessions>): Promise<Page<LiveOperatorSession>> {
    const place = placeIn(cursor);
    const after = place && { id: place.id, openedAt: place.moment };
    const rows = await this.operatorSessions.list(after, limit + 1);
    return pageOf(rows, limit, ({ id, openedAt }) => placeAt(id, openedAt));
  }

  /** Ends the whole family, even during a renewal. */
  @Change('sessions end', readChosen)
  async endSession({ id }: Chosen, work: ChangeWork) {
    const { transaction, context } = work;
    const now = this.clocks.databaseNow();
    const deleted = await this.sessions.deleteFamilies(transaction, [id]);
    const live = deleted.filter(({ expiresAt }) => expiresAt > now);
    const [first] = live;
    if (first === undefined) throw new OperatorRefusal('not_found');
    const { userId } = first;
    await this.owner.refuseOwner(userId, work);
    const event = auditEvent(
      'svc.audit.session.ended',
      { ...context, subjectUserId: userId },
      { sessions: live.length, cause: 'ended-by-operator', sessionFamilyIds: [id] },
    );
    return { result: null, targets: { sessionFamilyId: id, userId }, events: [event] };
  }

  @Change('operator-sessions end', readChosen)
  async endOperatorSession({ id }: Chosen, work: ChangeWork) {
    const userId = await this.operatorRows.delete(work.transaction, id);
    if (userId === undefined) throw new OperatorRefusal('not_found');
    await this.owner.refuseOwner(userId, work);
    return { result: null, targets: { operatorSessionId: id, userId } };
  }
}

/** A cursor for lists sorted by a moment, and by id if moments are equal. */
function placeAt(id: string, moment: Date): string {
  return `${moment.getTime()}.${id}`;
}

function placeIn(cursor: string | undefined): { id: string; moment: Date } | undefined {
  if (cursor === undefined) return undefined;
  const [ms, id = ''] = cursor.split('.');
  return { id, moment: new Date(Number(ms)) };
}

function checkPlace(cursor: string): Checked<string> {
  const [ms = '', id = '', ...more] = cursor.split('.');
  return /^\d{1,14}$/.test(ms) && isId(id) && more.length === 0
    ? { value: cursor }
    : { rule: 'must be the nextCursor of a page' };
}
