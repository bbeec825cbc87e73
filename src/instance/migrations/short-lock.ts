// Runs a statement that needs a table for itself for a moment, without holding up those who use the table for longer than that.
import { setTimeout as pause } from 'node:timers/promises';
import type { QueryRunner } from 'typeorm';

const LOCK_NOT_AVAILABLE = '55P03';
/** So long others wait at most, behind a statement that itself waits for a transaction which has the table open (a dump). */
const WAIT = '1s';
const PAUSE_MS = 2_000;

/** Waits again and again for as long as it takes. Not for use in a transaction, which would keep the locks that it has got. */
export async function withShortLock(queryRunner: QueryRunner, statement: string): Promise<void> {
  await queryRunner.query(`SET lock_timeout = '${WAIT}'`);
  try {
    while (!(await isDone(queryRunner, statement))) await pause(PAUSE_MS);
  } finally {
    await queryRunner.query('RESET lock_timeout');
  }
}

async function isDone(queryRunner: QueryRunner, statement: string): Promise<boolean> {
  try {
    await queryRunner.query(statement);
    return true;
  } catch (error) {
    if ((error as { code?: unknown }).code === LOCK_NOT_AVAILABLE) return false;
    throw error;
  }
}
