// The controllers of the flows.
import type { Type } from '@nestjs/common';
import { BackChannelLogoutController } from './back-channel-logout.controller.js';
import { EmbedLoginController } from './embed-login.controller.js';
import { TokenExchangeController } from './token-exchange.controller.js';
import { TokenIntrospectionController } from './token-introspection.controller.js';
import { TokenRevocationController } from './token-revocation.controller.js';

export const FLOW_CONTROLLERS: Type<object>[] = [
  TokenExchangeController,
  EmbedLoginController,
  TokenRevocationController,
  TokenIntrospectionController,
  BackChannelLogoutController,
];
