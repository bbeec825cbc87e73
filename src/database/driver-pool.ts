// The one place that reaches past TypeORM to the driver's pool of connections, which both share.
import type { Pool } from 'pg';
import type { DataSource } from 'typeorm';

/** TypeORM's own types do not show it. */
export function driverPool({ driver }: DataSource): Pool {
  return (driver as unknown as { master: Pool }).master;
}
