// The migrations of this package, in the order in which they run.
import { TABLES, TokenExchange1790000000050 } from './1790000000050-token-exchange.js';
import { REVOCATION_TABLES, TokenExchange1790000000070 } from './1790000000070-token-exchange-revocation.js';
import { STORED_ENTRY_TABLES, TokenExchange1790000000090 } from './1790000000090-stored-entries.js';
import { TokenExchange1790000000120 } from './1790000000120-leader-epoch.js';
import { TokenExchange1790000000160 } from './1790000000160-session-generation.js';
import { LEASE_TABLE, TokenExchange1790000000180 } from './1790000000180-no-lease.js';

/** For the `migrations` of the host's data source, beside its own. Their names begin with `TokenExchange`. */
export const TOKEN_EXCHANGE_MIGRATIONS = [
  TokenExchange1790000000050,
  TokenExchange1790000000070,
  TokenExchange1790000000090,
  TokenExchange1790000000120,
  TokenExchange1790000000160,
  TokenExchange1790000000180,
] as const;

/** What a database has once they have run. */
export const TOKEN_EXCHANGE_TABLES: readonly string[] = Object.keys({
  ...TABLES,
  ...REVOCATION_TABLES,
  ...STORED_ENTRY_TABLES,
}).filter((table) => table !== LEASE_TABLE && table !== 'token_exchange_user_sign_out');
