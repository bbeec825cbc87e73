// Reads from PostgreSQL's log how it has carried statements out; auto_explain writes that there.

/** Settings of sessions whose plans are wanted. */
export const EXPLAINED = {
  session_preload_libraries: 'auto_explain',
  'auto_explain.log_min_duration': '0',
  'auto_explain.log_analyze': 'on',
  'auto_explain.log_buffers': 'on',
  'auto_explain.log_wal': 'on',
  'auto_explain.log_format': 'json',
};
/** Within one entry of the log each line but the first begins with a tab. */
const ENTRY = /duration: [\d.]+ ms {2}plan:\n((?:\t.*\n)+)/g;

/**
 * The last plan of each statement that ran at least so often, in the order of first appearance.
 * @param leastTimes statements that ran less often belong to something else, such as purging
 */
export function plansOf(log, leastTimes) {
  const statements = new Map();
  for (const [, indented] of log.matchAll(ENTRY)) {
    const { 'Query Text': text, Plan: plan, JIT: jit } = parsed(indented.replace(/^\t/gm, ''));
    if (text === undefined) continue;
    const times = (statements.get(text)?.times ?? 0) + 1;
    statements.set(text, { statement: text.replace(/\s+/g, ' ').trim(), times, plan: planLines(plan, jit) });
  }
  return [...statements.values()].filter(({ times }) => times >= leastTimes);
}

/** Where two sessions write at once and the pipe is full, an entry may be torn; there are others of its kind. */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

function planLines(plan, jit) {
  const lines = nodeLines(plan, '');
  if (jit !== undefined) lines.push(`JIT: ${jit.Functions} functions compiled`);
  return lines;
}

function nodeLines(node, indentation) {
  const children = node.Plans ?? [];
  return [indentation + nodeLine(node), ...children.flatMap((child) => nodeLines(child, `${indentation}  `))];
}

function nodeLine(node) {
  if (node['Actual Loops'] === 0) return `${nodeTitle(node)}: never carried out`;
  const loops = node['Actual Loops'] > 1 ? ` × ${node['Actual Loops']}` : '';
  const rows = `rows ${node['Actual Rows']}${loops} (expected ${node['Plan Rows']})`;
  const buffers = `buffers ${node['Shared Hit Blocks'] + node['Shared Read Blocks']}`;
  return `${nodeTitle(node)}: ${[rows, buffers, ...writes(node)].join(', ')}`;
}

/** Pages that a write is the first to change after a checkpoint go to the log whole: large tables have more of them. */
function writes(node) {
  if (node.Operation === undefined) return [];
  return [`log ${node['WAL Bytes']} bytes with ${node['WAL FPI']} whole pages`];
}

function nodeTitle(node) {
  const subplan = node['Subplan Name'] === undefined ? '' : `${node['Subplan Name']}: `;
  const type = node['Node Type'] === 'ModifyTable' ? node.Operation : node['Node Type'];
  const source = node['Relation Name'] ?? node['CTE Name'] ?? node['Function Name'];
  const index = node['Index Name'] === undefined ? '' : ` by ${node['Index Name']}`;
  return `${subplan}${type}${source === undefined ? '' : ` on ${source}`}${index}`;
}
