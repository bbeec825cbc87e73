// The product's API, for partners' backends with an access token.
import type { VerifiedAccessToken } from '@embedded-token-exchange/nestjs/advanced';
import { AccessTokenService } from '@embedded-token-exchange/nestjs';
import { Controller, ForbiddenException, Get, Headers, UnauthorizedException } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { User } from './user.entity.js';

@Controller('api')
export class ApiController {
  constructor(
    private readonly accessTokens: AccessTokenService,
    @InjectRepository(User) private readonly users: Repository<User>,
  ) {}

  /**
   * Who calls, and for whom. A user who was locked or deleted since the token was issued is refused at once. A route that
   * touches things would ask for the rights of actor and subject alike where `token.rights` is `both`.
   */
  @Get('me')
  async me(@Headers('authorization') authorization = '') {
    const token = await this.verified(authorization, 'profile');
    const subject = await this.activeUser(token.subjectUserId);
    if (token.actorUserId === undefined) return { subject };
    return { subject, actor: await this.activeUser(token.actorUserId) };
  }

  /** A token without scopes is not limited. */
  private async verified(authorization: string, scope: string): Promise<VerifiedAccessToken> {
    const [, credential = ''] = /^Bearer (\S+)$/i.exec(authorization) ?? [];
    const token = await this.accessTokens.verify(credential);
    if (token === undefined) throw new UnauthorizedException();
    if (token.scopes?.has(scope) === false) throw new ForbiddenException();
    return token;
  }

  private async activeUser(id: string) {
    const user = await this.users.findOneBy({ id, active: true });
    if (user === null) throw new UnauthorizedException();
    return { id: user.id, email: user.email, role: user.role };
  }
}
