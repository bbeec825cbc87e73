// Reads from PostgreSQL's log how it has carried statements out; auto_explain writes that there.

/** Settings of sessions whose plans are wanted. */
export const EXPLAINED = {
  session_preload_libraries: 'auto_explain',
  'auto_explain.log_min_duration': '0',
  'auto_explain.log_analyze': 'on',
  // Triggers and foreign keys too.
  'auto_explain.log_nested_statements': 'on',
  'auto_explain.log_buffers': 'on',
  'auto_explain.log_wal': 'on',
};
/** Within one entry of the log each line but the first begins with a tab. The lines of a statement have no costs, those of a plan do. */
const ENTRY = /duration: [\d.]+ ms {2}plan:\n\tQuery Text: (.*\n(?:\t(?!.*\(cost=).*\n)*)((?:\t.*\n)+)/g;

/**
 * The last plan of each statement that ran at least so often, in the order of first appearance, as PostgreSQL shows it.
 * @param leastTimes statements that ran less often belong to something else, such as purging
 */
export function plansOf(log, leastTimes) {
  const statements = new Map();
  for (const [, text, plan] of log.matchAll(ENTRY)) {
    // From PostgreSQL 16 on its parameters follow it.
    const statement = text
      .replace(/\tQuery Parameters: [^]*/, '')
      .replace(/\s+/g, ' ')
      .trim();
    const times = (statements.get(statement)?.times ?? 0) + 1;
    statements.set(statement, { statement, times, plan: plan.trimEnd().replace(/^\t/gm, '').split('\n') });
  }
  return [...statements.values()].filter(({ times }) => times >= leastTimes);
}

/** The most rows that one step of a plan reads, with the rows that it removes. */
export function mostRows(plan) {
  const steps = [...plan.matchAll(/ rows=([\d.]+) loops=(\d+)\)|Rows Removed by .*: (\d+)/g)];
  return Math.max(
    0,
    ...steps.map(([, rows, loops, removed]) => Number(removed ?? Number(rows) * Number(loops))),
  );
}
