// The names of prepared statements, under which a connection keeps their texts.
import { PreparedStatement } from '../../../../src/platform/database/prepared-statement.js';
import { sql } from '../../../../src/platform/database/sql.js';
import { SORT_KEYS, workflowPage } from '../../../../src/workspace/workflows/workflow-list.query.js';
import { AUDIT_EVENTS } from '../../../../src/audit/audit-trail.repository.js';
import { USER_TABLE } from '../../../../src/instance/token-exchange-settings.js';
import { recordStatement } from '../../../../src/token-exchange/login/login.repository.js';
import { useStatement } from '../../../../src/token-exchange/exchange/use.repository.js';

/** Lists are of all, of a member's projects, or of those that two have in common. */
const BOTH = { memberId: 'm', otherMemberId: 'o' };
const BY_CHANGE = { sort: 'updatedAt', limit: 1 } as const;
const SCOPE = { projectId: 'p', active: true, name: 'n', search: 's' };
const AFTER = { key: 'k', id: 'i' };

describe('a prepared statement', () => {
  it('has a name of its own', () => {
    const make = (text = sql`SELECT 1`) => new PreparedStatement('twice', text);
    expect(make().text).toBe(make().text);
    expect(() => make(sql`SELECT 2`)).toThrow('there is another statement twice already');
  });

  it('has one for each table of users that hosts of one process name', () => {
    const other = { ...USER_TABLE, name: 'product_user' };
    expect(useStatement(other, true).name).not.toBe(useStatement(USER_TABLE, true).name);
    const record = (table: typeof other) => recordStatement(table, AUDIT_EVENTS);
    expect(record(other).name).not.toBe(record(USER_TABLE).name);
  });

  it('has a name that PostgreSQL does not cut', () => {
    const make = (length: number) => new PreparedStatement('n'.repeat(length), sql`SELECT 1`);
    expect(make(63).name).toHaveLength(63);
    expect(() => make(64)).toThrow(RangeError);
  });

  it('has one text for all pages that have the same filters', () => {
    const [one, other] = [
      workflowPage({ ...BY_CHANGE, name: 'a' }),
      workflowPage({ ...BY_CHANGE, name: 'b' }),
    ];
    expect(other).toBe(one);
    expect(one.values({ ...BY_CHANGE, name: 'a' })).toEqual(['a', 1]);
  });

  it('has a name of its own, which PostgreSQL does not cut, for every choice of filters', () => {
    const filters = { ...SCOPE, after: AFTER };
    const choices = Object.entries(filters).reduce<object[]>(
      (all, [member, value]) => [...all, ...all.map((choice) => ({ ...choice, [member]: value }))],
      [{}, { memberId: 'm' }, BOTH],
    );
    const names = choices.flatMap((choice) =>
      SORT_KEYS.map((sort) => workflowPage({ sort, limit: 1, ...choice }).name),
    );
    expect(new Set(names).size).toBe(3 * 2 * 32);
  });
});
