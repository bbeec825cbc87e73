// Opens, finds and ends browser sessions.
import { createHash, randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../clock.js';
import type { Transaction } from '../database/transaction.js';
import type { AccessOptions } from './access.options.js';
import { ACCESS_OPTIONS } from './access.options.js';
import { sessionCookie } from './session-cookie.js';
import type { WebSession } from './session.repository.js';
import { SessionRepository } from './session.repository.js';

const ID_BYTES = 32;

@Injectable()
export class SessionService {
  constructor(
    private readonly sessions: SessionRepository,
    private readonly clock: Clock,
    @Inject(ACCESS_OPTIONS) private readonly options: AccessOptions,
  ) {}

  /**
   * Opens a session under a new random id.
   * @rule D26 A session lives for the configured time from its login, whatever happens in it.
   * @param loginOrigin the origin of the page that posted the login
   * @returns the value of the `Set-Cookie` header; secret
   */
  async open(transaction: Transaction, userId: string, loginOrigin: string | undefined): Promise<string> {
    const id = randomBytes(ID_BYTES).toString('base64url');
    const { sessionLifetimeSeconds, partitionedCookie } = this.options;
    const createdAt = new Date(this.clock.nowMs());
    const expiresAt = new Date(createdAt.getTime() + sessionLifetimeSeconds * 1000);
    const session = { idHash: hashOf(id), userId, createdAt, expiresAt, loginOrigin: loginOrigin ?? null };
    await this.sessions.insert(transaction, session);
    return sessionCookie(id, sessionLifetimeSeconds, partitionedCookie);
  }

  /** The session with this id, unless it has ended. */
  async find(id: string): Promise<WebSession | undefined> {
    const session = await this.sessions.find(hashOf(id));
    return session !== undefined && session.expiresAt.getTime() > this.clock.nowMs() ? session : undefined;
  }

  end(transaction: Transaction, idHash: Buffer): Promise<void> {
    return this.sessions.delete(transaction, idHash);
  }

  /** The `Set-Cookie` value that clears the cookie, with the attributes that it was set with. */
  clearingCookie(): string {
    return sessionCookie('', 0, this.options.partitionedCookie);
  }

  purge(): Promise<void> {
    return this.sessions.purge(new Date(this.clock.nowMs()));
  }
}

function hashOf(id: string): Buffer {
  return createHash('sha256').update(id, 'utf8').digest();
}
