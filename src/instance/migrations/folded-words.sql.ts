// The function by which names of workflows are sorted and searched: the words of a name in one spelling.

/** Accents and other marks that stand over, under and in letters of Latin, Greek and Cyrillic. */
const MARK = /[\u0300-\u036f]/gu;
/** Where letters have cases and marks: Latin to Armenian, their extensions, and the wide forms of East Asian text. */
const LETTERS = [
  [0x80, 0x58f],
  [0x1e00, 0x1fff],
  [0xff10, 0xff5a],
] as const;
/** Letters that Unicode takes for simple ones. */
const SIMPLE: Readonly<Record<string, string>> = { ς: 'σ', ı: 'i', ø: 'o', đ: 'd', ł: 'l', ħ: 'h' };
/** Letters that become two, as full case folding and most people have it. */
const DOUBLE = { ß: 'ss', ẞ: 'ss', æ: 'ae', Æ: 'ae', œ: 'oe', Œ: 'oe' };

/** What separates words, by code points, because classes of characters depend on the locale: punctuation and white space. */
const SEPARATORS =
  '\\x01-\\x2f\\x3a-\\x60\\x7b-\\xa9\\xab-\\xb4\\xb6-\\xb9\\xbb-\\xbf\\xd7\\xf7\\u2000-\\u206f\\u20a0-\\u20cf' +
  '\\u3000-\\u303f\\u30fb\\ufe00-\\ufe0f\\ufe30-\\ufe6f\\uff00-\\uff0f\\uff1a-\\uff20\\uff3b-\\uff40\\uff5b-\\uff65';
/** Characters that are words by themselves: signs, emoji, and letters of scripts without spaces between words. */
const LONERS =
  '\\u0e00-\\u0eff\\u1000-\\u109f\\u1780-\\u17ff\\u2190-\\u2bff\\u2e80-\\u2fdf\\u3040-\\u30ff\\u3400-\\u4dbf' +
  '\\u4e00-\\u9fff\\uf900-\\ufaff\\U0001f000-\\U0003ffff';

/**
 * `folded_words(text)`: the words of a text, one space between them, in lower case without marks. Names and search terms go
 * through the same function. It depends on no locale: the table of letters is written into it.
 */
export function createFoldedWords(): string {
  const lowered = 'lower(normalize($1, NFC) COLLATE "C")';
  const { from, to } = letterTable();
  const folded = Object.entries(DOUBLE).reduce(
    (inner, [letter, letters]) => `replace(${inner}, '${letter}', '${letters}')`,
    `translate(${lowered}, '${from}', '${to}')`,
  );
  // Most names are ASCII, and a thousand times faster without the table.
  const letters = `CASE WHEN octet_length($1) = char_length($1) THEN ${lowered} ELSE ${folded} END`;
  const parted = `regexp_replace(${letters}, '[${SEPARATORS}]+', ' ', 'g')`;
  const spaced = `regexp_replace(regexp_replace(${parted}, '([${LONERS}])', ' \\1 ', 'g'), ' +', ' ', 'g')`;
  return `CREATE FUNCTION folded_words(text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $body$
    SELECT btrim(${spaced}, ' ')
  $body$`;
}

/** For `translate`: each letter of `from` becomes that of `to` at its place; those after its end, the marks, are removed. */
function letterTable(): { from: string; to: string } {
  const characters = LETTERS.flatMap(([first, last]) =>
    Array.from({ length: last - first + 1 }, (_, index) => String.fromCodePoint(first + index)),
  );
  const folded = characters
    .map((character) => [character, foldedLetter(character)] as const)
    .filter(([character, letter]) => letter !== character);
  const letters = folded.filter(([character, letter]) => [...letter].length === 1 && !(character in DOUBLE));
  const marks = folded.filter(([, letter]) => letter === '');
  return {
    from: [...letters, ...marks].map(([character]) => character).join(''),
    to: letters.map(([, letter]) => letter).join(''),
  };
}

function foldedLetter(character: string): string {
  const bare = (text: string) => text.normalize('NFKD').replace(MARK, '');
  const letter = bare(bare(character).toLowerCase());
  return SIMPLE[letter] ?? letter;
}
