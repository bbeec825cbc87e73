// Prints the results of `check`, for people and for programs.
import type { CheckResult } from './check.js';

const WORDS: Readonly<Record<CheckResult['status'], string>> = {
  passed: 'passed ',
  failed: 'FAILED ',
  skipped: 'skipped',
};
const ID_WIDTH = 16;

/** One row of the table. A failed check also says what is wrong, why, and what to do. */
export function rowOf(result: CheckResult): string {
  const row = `${WORDS[result.status]}  ${result.id.padEnd(ID_WIDTH)}  ${result.title}\n`;
  if (result.status === 'passed') return row;
  if (result.status === 'skipped') return `${row}         Reason: ${result.reason}\n`;
  const { found, cause, remedy, requestId } = result;
  const lines = [`Found:  ${found}`, `Cause:  ${cause}`, `Remedy: ${remedy}`];
  if (requestId !== undefined) lines.push(`Request id: ${requestId}`);
  return row + lines.map((line) => `         ${line}\n`).join('');
}

export function summaryOf(results: readonly CheckResult[]): string {
  const { passed, failed, skipped } = countsOf(results);
  return `${results.length} checks: ${passed} passed, ${failed} failed, ${skipped} skipped\n`;
}

export function jsonOf(baseUrl: string, results: readonly CheckResult[]): string {
  return `${JSON.stringify({ baseUrl, ...countsOf(results), checks: results }, null, 2)}\n`;
}

export function countsOf(results: readonly CheckResult[]): Record<CheckResult['status'], number> {
  const count = (status: CheckResult['status']) => results.filter((each) => each.status === status).length;
  return { passed: count('passed'), failed: count('failed'), skipped: count('skipped') };
}
