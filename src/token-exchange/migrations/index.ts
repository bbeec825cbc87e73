// The migrations of this package, in order.
import { TokenExchange1795800000000 } from './1795800000000-token-exchange.js';
import { TokenExchange1795900000000 } from './1795900000000-token-exchange.js';

export { TOKEN_EXCHANGE_TABLES } from './1795800000000-token-exchange.js';

/** The host adds these to the `migrations` of its data source. Their names begin with `TokenExchange`. */
export const TOKEN_EXCHANGE_MIGRATIONS = [TokenExchange1795800000000, TokenExchange1795900000000] as const;
