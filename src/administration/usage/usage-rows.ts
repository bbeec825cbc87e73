// The usage of issuers as rows of a table, and as comma-separated values.
import type { IssuerUsage } from './usage.operations.js';

export interface UsageRow extends Pick<IssuerUsage, 'issuer' | 'users' | 'maxUsers'> {
  /** Empty if nobody was active in the months that were asked for. */
  readonly month: string;
  readonly activeUsers: number;
}

/** An issuer without active users has one row. */
export function usageRows(usage: readonly IssuerUsage[]): UsageRow[] {
  return usage.flatMap(({ issuer, users, maxUsers, months }) => {
    const shown = months.length > 0 ? months : [{ month: '', activeUsers: 0 }];
    return shown.map((active) => ({ issuer, users, maxUsers, ...active }));
  });
}

/** RFC 4180. An issuer is a URL, so no cell is a formula. */
export function usageCsv(rows: readonly UsageRow[]): string {
  const lines = rows.map(({ issuer, users, maxUsers, month, activeUsers }) =>
    [`"${issuer.replaceAll('"', '""')}"`, users, maxUsers ?? '', month, activeUsers].join(','),
  );
  return ['issuer,users,max_users,month,active_users', ...lines, ''].join('\n');
}
