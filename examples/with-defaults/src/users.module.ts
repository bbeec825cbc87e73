// The product's users, as token exchange finds them.
import { UserDirectory } from '@embedded-token-exchange/nestjs';
import { Module } from '@nestjs/common';
import { ProductUsers } from './product-users.js';

@Module({
  providers: [ProductUsers, { provide: UserDirectory, useExisting: ProductUsers }],
  exports: [UserDirectory],
})
export class UsersModule {}
