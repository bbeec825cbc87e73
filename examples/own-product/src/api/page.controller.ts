// The product's page, for a user with a session.
import { Revocations } from '@embedded-token-exchange/nestjs/advanced';
import { Controller, Get, Header, Headers, UnauthorizedException } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { MoreThan, Repository } from 'typeorm';
import { Session } from '../sessions/session.entity.js';
import { carriedSession } from '../sessions/session-cookie.js';
import { User } from '../users/user.entity.js';

@Controller()
export class PageController {
  constructor(
    @InjectRepository(Session) private readonly sessions: Repository<Session>,
    @InjectRepository(User) private readonly users: Repository<User>,
    private readonly revocations: Revocations,
  ) {}

  @Get()
  @Header('content-type', 'text/plain; charset=utf-8')
  async home(@Headers('cookie') cookies?: string): Promise<string> {
    const idHash = carriedSession(cookies);
    if (idHash === undefined) throw new UnauthorizedException();
    const session = await this.sessions.findOneBy({ idHash, expiresAt: MoreThan(new Date()) });
    if (session === null || this.isRevoked(session)) throw new UnauthorizedException();
    const user = await this.users.findOneBy({ id: session.userId, active: true });
    if (!user) throw new UnauthorizedException();
    return `Welcome, ${user.email}: you are user ${user.id}\n`;
  }

  /** If a partner's key has been revoked since the login, the session has ended. */
  private isRevoked({ openedAt, signedBy }: Session): boolean {
    return this.revocations.refuses({ keys: signedBy, sinceMs: openedAt.getTime() });
  }
}
