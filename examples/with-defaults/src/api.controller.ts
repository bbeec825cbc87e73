// The product's API, for partners' backends with an access token.
import type { VerifiedAccessToken } from '@embedded-token-exchange/nestjs';
import { AccessTokenService } from '@embedded-token-exchange/nestjs';
import { Controller, Get, Headers, UnauthorizedException } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { User } from './user.entity.js';

@Controller('api')
export class ApiController {
  constructor(
    private readonly accessTokens: AccessTokenService,
    @InjectRepository(User) private readonly users: Repository<User>,
  ) {}

  /** Who calls, and for whom. A user who was locked or deleted since the token was issued is refused at once. */
  @Get('me')
  async me(@Headers('authorization') authorization = '') {
    const token = await this.verified(authorization);
    const subject = await this.activeUser(token.subjectUserId);
    if (token.actorUserId === undefined) return { subject };
    return { subject, actor: await this.activeUser(token.actorUserId) };
  }

  private async verified(authorization: string): Promise<VerifiedAccessToken> {
    const [, credential = ''] = /^Bearer (\S+)$/i.exec(authorization) ?? [];
    const token = await this.accessTokens.verify(credential);
    if (token === undefined) throw new UnauthorizedException();
    return token;
  }

  private async activeUser(id: string) {
    const user = await this.users.findOneBy({ id, active: true });
    if (user === null) throw new UnauthorizedException();
    return { id: user.id, email: user.email, role: user.role };
  }
}
