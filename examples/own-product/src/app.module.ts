// The product: its own users and sessions, and token exchange between them and its partners.
import { TOKEN_EXCHANGE_MIGRATIONS, TokenExchangeModule } from '@embedded-token-exchange/nestjs';
import { Module } from '@nestjs/common';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ApiController } from './api/api.controller.js';
import { PageController } from './api/page.controller.js';
import { Product1700000000000 } from './migrations/1700000000000-product.js';
import { Session } from './sessions/session.entity.js';
import { SessionsModule } from './sessions/sessions.module.js';
import { baseUrl, databaseUrl, sealingKey, trustedKeys } from './settings.js';
import { User } from './users/user.entity.js';
import { UsersModule } from './users/users.module.js';
import { Welcome } from './users/welcome.js';

@Module({
  imports: [
    TypeOrmModule.forRoot({
      type: 'postgres',
      url: databaseUrl,
      entities: [User, Session],
      migrations: [Product1700000000000, ...TOKEN_EXCHANGE_MIGRATIONS],
      migrationsRun: true,
    }),
    TypeOrmModule.forFeature([User, Session]),
    EventEmitterModule.forRoot(),
    TokenExchangeModule.register({
      trustedKeys,
      roles: { assignable: ['member', 'admin'], owner: 'owner', initial: 'member' },
      accessTokens: { issuer: baseUrl, sealingKeys: [sealingKey] },
      imports: [UsersModule, SessionsModule],
    }),
  ],
  controllers: [ApiController, PageController],
  providers: [Welcome],
})
export class AppModule {}
