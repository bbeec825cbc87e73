// The product's page, for a user with a session of the package.
import { randomUUID } from 'node:crypto';
import { SessionService } from '@embedded-token-exchange/nestjs';
import { SignOutService } from '@embedded-token-exchange/nestjs/advanced';
import { Controller, Get, Header, Headers, HttpCode, Post, Res, UnauthorizedException } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { User } from './user.entity.js';

/** The used part of a Fastify response. */
interface Response {
  header(name: string, value: string[]): unknown;
}

@Controller()
export class PageController {
  constructor(
    private readonly sessions: SessionService,
    private readonly signOuts: SignOutService,
    @InjectRepository(User) private readonly users: Repository<User>,
  ) {}

  /** If a browser has several sessions, the latest login is used. */
  @Get()
  @Header('content-type', 'text/plain; charset=utf-8')
  async home(@Headers('cookie') cookies?: string): Promise<string> {
    const [session] = await this.sessions.findCarried(cookies);
    const user = session && (await this.users.findOneBy({ id: session.userId, active: true }));
    if (!user) throw new UnauthorizedException();
    return `Welcome, ${user.email}: you are user ${user.id}\n`;
  }

  @Post('sign-out')
  @HttpCode(204)
  async signOut(
    @Headers('cookie') cookies: string | undefined,
    @Res({ passthrough: true }) response: Response,
  ): Promise<void> {
    const carried = await this.sessions.findCarried(cookies);
    response.header('set-cookie', await this.signOuts.signOut(carried, randomUUID()));
  }
}
