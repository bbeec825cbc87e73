// The port to browser sessions, on the product's own table and cookie.
import { randomBytes } from 'node:crypto';
import type { Transaction } from '@embedded-token-exchange/nestjs';
import { managerOf } from '@embedded-token-exchange/nestjs';
import type { OpenedSession, SessionLogin } from '@embedded-token-exchange/nestjs/advanced';
import { SessionOpener } from '@embedded-token-exchange/nestjs/advanced';
import { Injectable } from '@nestjs/common';
import { Session } from './session.entity.js';
import { carriedSession, hashOf, SESSION_SECONDS, sessionCookie } from './session-cookie.js';

@Injectable()
export class ProductSessions extends SessionOpener {
  /** Ends the browser's earlier session, which may be another user's. */
  async open(transaction: Transaction, login: SessionLogin): Promise<OpenedSession> {
    const { userId, cookies, signedBy } = login;
    const manager = managerOf(transaction);
    const earlier = carriedSession(cookies);
    if (earlier !== undefined) await manager.delete(Session, { idHash: earlier });
    const id = randomBytes(32).toString('base64url');
    const openedAt = new Date();
    const expiresAt = new Date(openedAt.getTime() + SESSION_SECONDS * 1000);
    const session = { idHash: hashOf(id), userId: Number(userId), openedAt, expiresAt };
    await manager.insert(Session, { ...session, signedBy: [...signedBy] });
    return { setCookie: sessionCookie(id), events: [] };
  }
}
