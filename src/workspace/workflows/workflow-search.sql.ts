// SQL that finds workflows by the beginnings of the words of their names, at a cost that does not grow with the table.
import type { Sql } from '../../platform/database/sql.js';
import { sql } from '../../platform/database/sql.js';

/**
 * The index of words lists all workflows that have a word, in no order, at a cost that grows with their number. So it is asked
 * for rare words alone: of so many workflows with random ids fewer than two have such a word.
 */
const SAMPLE = sql`600`;
const COMMON = sql`2`;
/** So many words are looked at for rare ones: the longest, of which there are the fewest as a rule. */
const WORDS = sql`8`;
/** So many workflows are taken from the index at most. Each lies in another place of the table. */
const LISTED = sql`500`;

/**
 * A common table expression `sought`: the words, and what each name must be like. A search without a word finds everything.
 * Folded words have no character that means something in a pattern, or in a query of the index of words.
 */
export function soughtWords<Query>(search: Sql<Query>): Sql<Query> {
  return sql`sought AS MATERIALIZED (
      SELECT array_agg(word) AS words, coalesce(array_agg('% ' || word || '%'), '{}') AS patterns
      FROM (SELECT DISTINCT unnest(string_to_array(folded_words(${search}), ' ')) AS word) given
    )`;
}

/** Whether a folded name is among those sought. */
export function isSought(foldedName: Sql): Sql {
  return sql`(' ' || ${foldedName}) LIKE ALL ((SELECT sought.patterns FROM sought)::text[])`;
}

/**
 * Common table expressions, the last of which is `listed`: what the index of words has of the whole instance, by the rare ones
 * of the words that are sought, and one more than is taken where that is too much. It is read by that index and no other,
 * however many projects somebody is a member of.
 * @param onlyIf without which nothing is looked for
 */
export function listedByIndex<Query>(onlyIf: Sql<Query>): Sql<Query> {
  return sql`sample AS MATERIALIZED (
      SELECT w.folded_name FROM workflow w WHERE ${onlyIf} ORDER BY w.id LIMIT ${SAMPLE}
    ), rare AS MATERIALIZED (
      SELECT string_agg('''' || word || ''':*', ' & ')::tsquery AS words FROM (
        SELECT word FROM unnest((SELECT sought.words FROM sought)) word ORDER BY length(word) DESC LIMIT ${WORDS}
      ) long
      WHERE ${onlyIf}
        AND (SELECT count(*) FROM sample WHERE (' ' || sample.folded_name) LIKE '% ' || word || '%') < ${COMMON}
    ), every AS MATERIALIZED (
      SELECT w.id, w.project_id, w.active, w.updated_at, w.folded_name FROM workflow w
      WHERE ${IS_ANY_RARE} AND array_to_tsvector(string_to_array(w.folded_name, ' ')) @@ (SELECT rare.words FROM rare)
    ), listed AS MATERIALIZED (
      SELECT every.* FROM every LIMIT ${LISTED} + 1
    )`;
}

const IS_ANY_RARE = sql`(SELECT rare.words IS NOT NULL FROM rare)`;

/** Whether `listed` has all that the index of words has for a search. */
export const IS_LISTED = sql`(SELECT ${IS_ANY_RARE} AND count(*) <= ${LISTED} FROM listed)`;
