// The entry of the package: what every host needs. Ports, services and events beyond that are in advanced.ts.
export { TokenExchangeModule } from './token-exchange.module.js';
export type { TokenExchangeSettings } from './settings/token-exchange.options.js';
export { TOKEN_EXCHANGE_MIGRATIONS } from './migrations/index.js';

// The host's users
export { UserDirectory } from './host/users.js';
export type { HostUser, HostUserUpdate, NewHostUser } from './host/users.js';
export { managerOf } from '../platform/database/transaction.js';
export type { Transaction } from '../platform/database/transaction.js';

// Issued sessions and access tokens, and their published keys
export { AccessTokenService } from './tokens/access-token.service.js';
export { SessionService } from './login/session.service.js';
export {
  CurrentUser,
  RequireScopes,
  TokenExchangeAuth,
  TokenExchangeGuard,
} from './host/token-exchange-auth.js';
export type { AuditEvent } from './audit/audit-trail.js';
