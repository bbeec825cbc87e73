// The one place that reaches past TypeORM to the driver's pool of connections, which both share.
import type { ClientConfig, Pool } from 'pg';
import type { DataSource } from 'typeorm';

/** TypeORM's own types do not show it. */
export function driverPool({ driver }: DataSource): Pool {
  return (driver as unknown as { master: Pool }).master;
}

/** How the pool connects, for connections beside it. Holds a secret. */
export function connectionOf(dataSource: DataSource): ClientConfig {
  const { options } = driverPool(dataSource);
  // The pool hides its password from those who list its options, a copy of all others among them.
  return { ...options, password: options.password };
}
