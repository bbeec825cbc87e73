// Reads the text of a PDF that Chromium has printed. Text completely outside the printed area is not in it.
import { inflateSync } from 'node:zlib';

const FONT_OR_GLYPHS = /\/F(\d+) [\d.]+ Tf|<([0-9A-F]+)> Tj/g;

type Characters = ReadonlyMap<string, string>;

/** One line for each block of text. */
export function printedText(pdf: Buffer): string {
  const objects = new Map(
    [...pdf.toString('latin1').matchAll(/(\d+) 0 obj\n([\s\S]*?)\nendobj/g)].map(([, id = '', body = '']) => [
      id,
      body,
    ]),
  );
  const fonts = new Map<string, Characters>();
  for (const [id, body] of objects) {
    const [, map] = /\/ToUnicode (\d+)/.exec(body) ?? [];
    if (map !== undefined) fonts.set(id, charactersIn(streamOf(objects.get(map))));
  }
  const blocks = [...objects.values()].flatMap((body) => streamOf(body).split(/^BT$/m).slice(1));
  return blocks
    .map((block) => textOf(block, fonts))
    .join('\n')
    .normalize('NFKC');
}

function streamOf(body = ''): string {
  const [, stream = ''] = /stream\n([\s\S]*)\nendstream/.exec(body) ?? [];
  return body.includes('/FlateDecode')
    ? inflateSync(Buffer.from(stream, 'latin1')).toString('latin1')
    : stream;
}

/** The character of each glyph, as a CMap has it: `<glyph> <code>`, or `<first glyph> <last glyph> <first code>`. */
function charactersIn(map: string): Characters {
  const characters = new Map<string, string>();
  const [single = '', ranges = ''] = ['char', 'range'].map((kind) =>
    [...map.matchAll(new RegExp(`beginbf${kind}([\\s\\S]*?)endbf${kind}`, 'g'))].join(),
  );
  const given = [
    ...[...single.matchAll(/<(\w+)> <(\w+)>\n/g)].map(([, glyph, code]) => [glyph, glyph, code]),
    ...[...ranges.matchAll(/<(\w+)> <(\w+)> <(\w+)>/g)].map(([, ...range]) => range),
  ];
  for (const [first = 0, last = 0, code = 0] of given.map((range) =>
    range.map((text = '') => parseInt(text, 16)),
  ))
    for (let glyph = first; glyph <= last; glyph += 1)
      characters.set(
        glyph.toString(16).toUpperCase().padStart(4, '0'),
        String.fromCharCode(code + glyph - first),
      );
  return characters;
}

function textOf(block: string, fonts: ReadonlyMap<string, Characters>): string {
  let font: Characters | undefined;
  return [...block.matchAll(FONT_OR_GLYPHS)]
    .map(([, id, glyphs = '']) => {
      if (id !== undefined) font = fonts.get(id);
      return (glyphs.match(/.{4}/g) ?? []).map((glyph) => font?.get(glyph) ?? '').join('');
    })
    .join('');
}
