// SQL that finds workflows by the beginnings of the words of their names.
import type { Sql } from '../../token-exchange/database/sql.js';
import { sql } from '../../token-exchange/database/sql.js';

/**
 * A common table expression `sought`: what each name must be like, and the same as a query of the index of words. A search
 * without a word finds everything. Folded words have no character that means something in either.
 */
export function soughtWords<Query>(search: Sql<Query>): Sql<Query> {
  return sql`sought AS MATERIALIZED (
      SELECT coalesce(array_agg('% ' || word || '%'), '{}') AS patterns,
        string_agg('''' || word || ''':*', ' & ')::tsquery AS words
      FROM unnest(string_to_array(folded_words(${search}), ' ')) AS word
    )`;
}

/** Whether a search has no word in it: the index of words has nothing to say then. */
export const IS_EVERYTHING_SOUGHT = sql`(SELECT sought.words IS NULL FROM sought)`;

/** Whether a folded name is among those sought. */
export function isSought(foldedName: Sql): Sql {
  return sql`(' ' || ${foldedName}) LIKE ALL ((SELECT sought.patterns FROM sought)::text[])`;
}

/**
 * A common table expression `listed`: what the index of words has. By itself, so that it is read by that index and no other,
 * however many projects somebody is a member of.
 * @param onlyIf without which nothing is looked for
 */
export function listedByIndex<Query>(onlyIf: Sql<Query>): Sql<Query> {
  return sql`listed AS MATERIALIZED (
      SELECT w.id, w.project_id, w.active, w.updated_at, w.folded_name FROM workflow w
      WHERE ${onlyIf}
        AND array_to_tsvector(string_to_array(w.folded_name, ' ')) @@ (SELECT sought.words FROM sought)
    )`;
}
