// Statements of sorted pages: one for each choice of filters.
import { sortedWorkflowPage } from '../../../../src/workspace/workflows/sorted-workflow-page.query.js';

const FILTERS = { memberId: 'm', projectId: 'p', active: true, search: 's', after: { key: 'k', id: 'i' } };

/** Every choice of some members of an object. */
function choices(members: readonly [string, unknown][]): object[] {
  const [first, ...rest] = members;
  if (first === undefined) return [{}];
  return choices(rest).flatMap((choice) => [choice, { ...choice, [first[0]]: first[1] }]);
}

it('every choice of filters has a statement with a name of its own that PostgreSQL does not cut', () => {
  const orders = (['updatedAt', 'name'] as const).flatMap((sort) =>
    (['asc', 'desc'] as const).map((order) => ({ sort, order })),
  );
  const names = orders.flatMap((order) =>
    choices(Object.entries(FILTERS)).map(
      (filters) => sortedWorkflowPage({ ...order, ...filters, limit: 1 }).name,
    ),
  );
  expect(new Set(names).size).toBe(128);
});
