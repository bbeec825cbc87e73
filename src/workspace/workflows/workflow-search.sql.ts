// SQL that finds workflows by the beginnings of the words of their names.
import type { Sql } from '../../database/sql.js';
import { joined, sql } from '../../database/sql.js';
import type { SortedQuery } from './sorted-workflows.sql.js';
import { ACTIVE, isBehind, memberProjects, PROJECT_ID } from './sorted-workflows.sql.js';
import type { OrderSql } from './workflow-order.js';

/**
 * A common table expression `sought`: what each name must be like, and the same as a query of the index of words. A search
 * without a word finds everything. Folded words have no character that means something in either.
 */
export function soughtWords<Query>(search: Sql<Query>): Sql<Query> {
  return sql`sought AS MATERIALIZED (
      SELECT coalesce(array_agg('% ' || word || '%'), '{}') AS patterns, string_agg('''' || word || ''':*', ' & ')::tsquery AS words
      FROM unnest(string_to_array(folded_words(${search}), ' ')) AS word
    )`;
}

/** Whether a row of `found` is among those sought. */
export const IS_SOUGHT = sql`(' ' || found.folded_name) LIKE ALL ((SELECT sought.patterns FROM sought)::text[])`;

/**
 * A SELECT of key and id of all that the index of words has, at a cost that grows with their number.
 * @param condition without which nothing is looked for
 */
export function soughtByIndex<Query extends SortedQuery>(
  { memberId, projectId, active, after }: SortedQuery,
  order: OrderSql,
  condition: Sql<Query>,
): Sql<Query> {
  const project = projectId === undefined ? [] : [sql<Query>`AND w.project_id = ${PROJECT_ID}`];
  const state = active === undefined ? [] : [sql<Query>`AND w.active = ${ACTIVE}`];
  const member =
    memberId === undefined ? [] : [sql<Query>`AND w.project_id IN (${memberProjects(projectId)})`];
  const behind = after === undefined ? [] : [isBehind(order)];
  return sql`SELECT ${order.column} AS key, w.id FROM workflow w
      WHERE ${condition}
        AND array_to_tsvector(string_to_array(w.folded_name, ' ')) @@ (SELECT sought.words FROM sought)
        ${joined([...project, ...state, ...member, ...behind], sql` `)}`;
}
