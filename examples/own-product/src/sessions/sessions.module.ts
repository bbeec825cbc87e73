// The product's sessions, as token exchange finds them.
import { SessionOpener } from '@embedded-token-exchange/nestjs/advanced';
import { Module } from '@nestjs/common';
import { ProductSessions } from './product-sessions.js';

@Module({ providers: [{ provide: SessionOpener, useClass: ProductSessions }], exports: [SessionOpener] })
export class SessionsModule {}
