// The types of query-plans.mjs, for the tests.

export function mostRows(plan: string): number;
