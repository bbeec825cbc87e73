// Reads the plans of executed statements from PostgreSQL's log, which auto_explain writes.

/** The settings of a session whose plans are logged. */
export const EXPLAINED = {
  session_preload_libraries: 'auto_explain',
  'auto_explain.log_min_duration': '0',
  'auto_explain.log_analyze': 'on',
  // Includes triggers and foreign keys.
  'auto_explain.log_nested_statements': 'on',
  'auto_explain.log_buffers': 'on',
  'auto_explain.log_wal': 'on',
};
/** All lines of a log entry except the first start with a tab. Only the plan's lines have costs. */
const ENTRY = /duration: [\d.]+ ms {2}plan:\n\tQuery Text: (.*\n(?:\t(?!.*\(cost=).*\n)*)((?:\t.*\n)+)/g;

/**
 * The last plan of each statement that ran at least `leastTimes` times, in order of first appearance.
 * @param leastTimes excludes less frequent statements, which belong to other work such as purging
 */
export function plansOf(log, leastTimes) {
  const statements = new Map();
  for (const [, text, plan] of log.matchAll(ENTRY)) {
    // PostgreSQL 16 and later log the parameters after the statement.
    const statement = text
      .replace(/\tQuery Parameters: [^]*/, '')
      .replace(/\s+/g, ' ')
      .trim();
    const times = (statements.get(statement)?.times ?? 0) + 1;
    statements.set(statement, { statement, times, plan: plan.trimEnd().replace(/^\t/gm, '').split('\n') });
  }
  return [...statements.values()].filter(({ times }) => times >= leastTimes);
}

/** The most rows that one step of a plan returns or removes. */
export function mostRows(plan) {
  const steps = [...plan.matchAll(/ rows=([\d.]+) loops=(\d+)\)|Rows Removed by .*: (\d+)/g)];
  return Math.max(
    0,
    ...steps.map(([, rows, loops, removed]) => Number(removed ?? Number(rows) * Number(loops))),
  );
}
