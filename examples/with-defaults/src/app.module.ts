// The product: its own users, and token exchange's defaults for everything else.
import { TOKEN_EXCHANGE_MIGRATIONS, TokenExchangeModule } from '@embedded-token-exchange/nestjs';
import { Module } from '@nestjs/common';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ApiController } from './api.controller.js';
import { PageController } from './page.controller.js';
import { Product1700000000000 } from './product.migration.js';
import { baseUrl, databaseUrl, sealingKey, trustedKeys } from './settings.js';
import { User } from './user.entity.js';
import { UsersModule } from './users.module.js';

@Module({
  imports: [
    TypeOrmModule.forRoot({
      type: 'postgres',
      url: databaseUrl,
      entities: [User],
      migrations: [Product1700000000000, ...TOKEN_EXCHANGE_MIGRATIONS],
      migrationsRun: true,
    }),
    TypeOrmModule.forFeature([User]),
    EventEmitterModule.forRoot(),
    TokenExchangeModule.register({
      trustedKeys,
      roles: { assignable: ['member', 'admin'], owner: 'owner', initial: 'member' },
      accessTokens: { issuer: baseUrl, sealingKeys: [sealingKey] },
      metadata: true,
      imports: [UsersModule],
    }),
  ],
  controllers: [ApiController, PageController],
})
export class AppModule {}
