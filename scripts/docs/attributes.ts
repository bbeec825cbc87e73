// The list of attributes in docs/partner/frame.md, from the comments of the options' tables.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { list } from './blocks.js';

/** This file runs from `scripts/docs` and from `dist/scripts/docs`. */
const FILES = [
  ['..', '..'],
  ['..', '..', '..'],
].map((up) => join(import.meta.dirname, ...up, 'pages', 'embed', 'options.ts'));
/** Matches a row of a table: its comment, its default and its name. */
const ROW = /^ {2}\/\*\* (.+?) @default (.+?) \*\/\n {2}(\w+):/gm;
/** Most readers look for these attributes, so they come first. */
const FIRST = ['title', 'url', 'userKey', 'redirectTo'];

export const ATTRIBUTE_LIST = {
  attributes: () => {
    const source = readFileSync(FILES.find(existsSync) ?? '', 'utf8');
    const rows = [...source.matchAll(ROW)].map(([, is = '', otherwise = '', name = '']) => ({
      is,
      otherwise,
      name,
    }));
    const place = ({ name }: { name: string }) => FIRST.indexOf(name) + 1 || FIRST.length + 1;
    rows.sort((one, other) => place(one) - place(other));
    const hyphened = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    return list(
      rows.map(({ is, otherwise, name }): [string, string] => {
        const attribute = `\`${hyphened(name)}\``;
        return [otherwise === 'none' ? attribute : `${attribute} (${otherwise})`, is];
      }),
    );
  },
};
