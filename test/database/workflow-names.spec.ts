// How the database keeps the words of the names of workflows, by which lists are sorted and searched.
import { openDatabase } from '../../src/platform/database/data-source.js';
import type { OpenDatabase } from '../../src/platform/database/data-source.js';
import { SCHEMA } from '../../src/instance/schema.js';
import { describeOnEachDatabase } from '../support/databases.js';

describeOnEachDatabase('the words of a name', (database) => {
  let opened: OpenDatabase;

  beforeAll(async () => {
    opened = await openDatabase(database.settings, SCHEMA);
    await opened.dataSource.query(
      `INSERT INTO project (id, type, name) VALUES ('00000000-0000-4000-9000-000000000001', 'team', 'Team')`,
    );
  });
  afterAll(() => opened.close());

  const folded = async (text: string) => {
    const rows = await opened.dataSource.query<{ words: string }[]>('SELECT folded_words($1) AS words', [
      text,
    ]);
    return rows[0]?.words;
  };
  const insert = (name: string) =>
    opened.dataSource.query<{ words: string }[]>(
      `INSERT INTO workflow (id, project_id, name, nodes, connections)
       VALUES (gen_random_uuid(), '00000000-0000-4000-9000-000000000001', $1, '[]', '{}') RETURNING folded_name AS words`,
      [name],
    );

  it.each([
    ['Order Import-7', 'order import 7'],
    ['  snake_case, camelCase!  ', 'snake case camelcase'],
    ["100 % of Ada's", '100 of ada s'],
    ['ÉCOLE d’été', 'ecole d ete'],
    ['E\u0301cole', 'ecole'],
    ['Straße STRASSE', 'strasse strasse'],
    ['ΟΔΟΣ οδος', 'οδοσ οδοσ'],
    ['İstanbul ISPARTA ısı', 'istanbul isparta isi'],
    ['Ærø Łódź Þór', 'aero lodz þor'],
    ['Привет Ёлка', 'привет елка'],
    ['ＡＢＣ１２', 'abc12'],
    ['注文処理v2', '注 文 処 理 v2'],
    ['한국어 \u1112\u1161\u11ab', '한국어 한'],
    ['a→b 🚀launch', 'a → b 🚀 launch'],
    ['𠮷野家', '𠮷 野 家'],
    ['', ''],
    ['!?', ''],
  ])('of %j are %j, in any locale', async (text, words) => {
    expect(await folded(text)).toBe(words);
  });

  it('are the same again when they are folded again', async () => {
    for (const text of ['Order Import-7', 'ÉCOLE d’été', '注文処理v2', 'Straße', 'a→b 🚀launch']) {
      const once = await folded(text);
      expect(await folded(once ?? '')).toBe(once);
    }
  });

  // The last one is longest in NFC: three code points of four bytes for each.
  it.each(['x', 'ß', '注', '🚀', '!', '\u{10ffff}', '\u{1d160}'])(
    'of the longest name of %j fit into every index',
    async (character) => {
      const [row] = await insert(character.repeat(128));
      expect(row?.words).toBe(await folded(character.repeat(128)));
      expect(Buffer.byteLength(row?.words ?? '')).toBeLessThanOrEqual(1536);
    },
  );

  it('follow the name when any program changes it, also one that does not know them', async () => {
    await insert('Before');
    const changed = await opened.dataSource.query<[{ words: string }[], number]>(
      `UPDATE workflow SET name = 'Danach' WHERE name = 'Before' RETURNING folded_name AS words`,
    );
    expect(changed[0]).toEqual([{ words: 'danach' }]);
  });
});
