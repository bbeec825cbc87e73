// Looks with axe-core for what users of assistive technology could not use.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Frame, Page } from 'playwright-core';
import { REPOSITORY } from '../../support/source-files.js';

const AXE = readFileSync(join(REPOSITORY, 'node_modules', 'axe-core', 'axe.min.js'), 'utf8');
/** WCAG 2.2 AA, and what axe-core itself takes for good practice. */
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

interface Finding {
  id: string;
  nodes: { target: string[]; failureSummary: string }[];
}

/** What axe-core finds wrong with what a frame shows. */
export async function findingsIn(frame: Frame | Page): Promise<string[]> {
  await frame.evaluate(AXE);
  // Colours on their way to others would be checked half way.
  await frame.evaluate(
    'Promise.allSettled(document.getAnimations().map(({ finished }) => finished)).then(() => true)',
  );
  const { violations } = await frame.evaluate<{ violations: Finding[] }>(
    `axe.run({ runOnly: ${JSON.stringify(RULES)} })`,
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join()}: ${failureSummary}`),
  );
}
