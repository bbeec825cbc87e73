// The migrations in the order in which they run: those of the package first, whose tables the instance refers to its users.
import { TOKEN_EXCHANGE_MIGRATIONS } from '../../token-exchange/plain.js';
import { Instance1795500000100 } from './1795500000100-instance.js';

export const MIGRATIONS = [...TOKEN_EXCHANGE_MIGRATIONS, Instance1795500000100] as const;
