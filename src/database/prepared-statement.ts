// Statements that the database parses and plans once per connection.
import type { Pool } from 'pg';
import type { DataSource } from 'typeorm';
import { isAnswer } from './database-error.js';

/** A statement with a name of its own; under one name there is only ever one text. */
export interface PreparedStatement {
  /** At most 63 bytes: PostgreSQL cuts longer names. */
  readonly name: string;
  readonly text: string;
}

/**
 * Runs a prepared statement outside any transaction of ours: it is one by itself. TypeORM has no prepared statements, and
 * its query runner is some work by itself: this goes to the driver's pool of connections, which both share.
 * @throws the driver's error
 */
export async function runPrepared<Row>(
  { driver, logger }: DataSource,
  { name, text }: PreparedStatement,
  values: readonly unknown[],
): Promise<Row[]> {
  const { master } = driver as unknown as { master: Pool };
  // As TypeORM does for each of its own; the service has that log turned off.
  logger.logQuery(text, [...values]);
  const client = await master.connect();
  let broken: Error | undefined;
  const noteBreak = (error: Error) => (broken = error);
  // While a client is out of its pool nobody else listens, and an error without a listener ends the process.
  client.on('error', noteBreak);
  try {
    const { rows } = await client.query({ name, text, values: [...values] });
    return rows as Row[];
  } catch (error) {
    if (!isAnswer(error)) noteBreak(error as Error);
    throw error;
  } finally {
    client.off('error', noteBreak);
    // After an answer of the database, a refusal too, the connection serves on; after silence nobody knows what it does.
    client.release(broken);
  }
}
