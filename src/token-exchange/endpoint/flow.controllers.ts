// The controllers of the flows.
import type { Type } from '@nestjs/common';
import { TokenExchangeController } from '../exchange/token-exchange.controller.js';
import { ExplainController } from '../explain/explain.controller.js';
import { TokenIntrospectionController } from '../introspection/token-introspection.controller.js';
import { EmbedLoginController } from '../login/embed-login.controller.js';
import { BackChannelLogoutController } from '../logout/back-channel-logout.controller.js';
import { TokenRevocationController } from '../revocation/token-revocation.controller.js';
import { EventsController } from '../signals/events.controller.js';

export const FLOW_CONTROLLERS: Type<object>[] = [
  TokenExchangeController,
  EmbedLoginController,
  TokenRevocationController,
  TokenIntrospectionController,
  BackChannelLogoutController,
  EventsController,
  ExplainController,
];
