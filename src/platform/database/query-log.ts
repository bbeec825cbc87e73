// The log of TypeORM, where the host has turned it on, for statements that go past it to the driver.
import type { DataSource } from 'typeorm';

/** Runs a statement, and logs it, its failure or its slowness, as TypeORM does for each of its own. */
export async function logged<Answer>(
  { logger, options }: DataSource,
  { text, values }: { readonly text: string; readonly values: unknown[] },
  run: () => Promise<Answer>,
): Promise<Answer> {
  logger.logQuery(text, values);
  const beganAtMs = performance.now();
  const answer = await run().catch((error: unknown) => {
    logger.logQueryError(error as Error, text, values);
    throw error;
  });
  const tookMs = Math.round(performance.now() - beganAtMs);
  const { maxQueryExecutionTime: most = 0 } = options;
  if (most > 0 && tookMs > most) logger.logQuerySlow(tookMs, text, values);
  return answer;
}
