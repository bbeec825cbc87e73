// The product's API, for partners' backends with an access token.
import type { HostUser } from '@embedded-token-exchange/nestjs';
import { CurrentUser, RequireScopes } from '@embedded-token-exchange/nestjs';
import { Controller, Get } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { User } from '../users/user.entity.js';

@Controller('api')
export class ApiController {
  constructor(@InjectRepository(User) private readonly users: Repository<User>) {}

  /**
   * Returns the caller and the subject. A user who was locked or deleted after the token was issued is refused at once. A route that
   * reads or changes data must check the rights of each user of `@CurrentUser('rightsOf')`.
   */
  @Get('me')
  @RequireScopes('profile')
  async me(@CurrentUser() user: HostUser, @CurrentUser('onBehalfOf') subject?: HostUser) {
    if (subject === undefined) return { subject: await this.shown(user) };
    return { subject: await this.shown(subject), actor: await this.shown(user) };
  }

  private async shown({ id }: HostUser) {
    const user = await this.users.findOneByOrFail({ id: Number(id) });
    return { id: user.id, email: user.email, role: user.role };
  }
}
