// Finds the code of each rule of the contract by its `@rule` tag, and the tests that name the rule.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { REPOSITORY, typescriptFiles } from '../../../support/source-files.js';
import type { Mutant } from './mutation.js';
import { mutantsOf } from './mutation.js';

const TAG = /@rule\s/;
/** Of rules that a comment has tags for, or names. */
const RULE_ID = /(?<![\w.§])(?:[1-9](?:\.\w+)+|D\d+|[BP]\.\w+)/g;
/** Ids of the contract begin with a digit. Ids of decisions begin with a letter. */
const OF_CONTRACT = /^[1-9]\./;
/** The folders whose tests a mutant may fail, the quickest first. */
const FOLDERS = ['unit', 'architecture', 'database', 'e2e'];

/** The rules of one comment. */
export interface Rule {
  readonly ids: readonly string[];
  /** The changes of the code below the tag. */
  readonly mutants: readonly Mutant[];
}

export function rulesOfContract(): Rule[] {
  return typescriptFiles('src').flatMap(({ path }) => rulesOf(join(REPOSITORY, path)));
}

function rulesOf(file: string): Rule[] {
  const text = readFileSync(file, 'utf8');
  if (!text.includes('@rule')) return [];
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const mutants = mutantsOf(file);
  const rules: Rule[] = [];
  const visit = (node: ts.Node) => {
    const comment = commentBefore(node, text);
    const ids = TAG.test(comment) ? [...comment.matchAll(RULE_ID)].map(([id]) => id) : [];
    const below = mutants.filter(({ start, end }) => node.getStart() <= start && end <= node.end);
    if (ids.length > 0) rules.push({ ids, mutants: below });
    node.forEachChild(visit);
  };
  source.forEachChild(visit);
  return rules.filter(
    ({ ids, mutants: below }) => ids.some((id) => OF_CONTRACT.test(id)) && below.length > 0,
  );
}

/** The comment of a declaration, a member, an element or a statement. Its first child begins at the same place. */
function commentBefore(node: ts.Node, text: string): string {
  if (node.pos === node.parent.pos && !ts.isSourceFile(node.parent)) return '';
  return text.slice(node.pos, node.getStart());
}

/** @returns the test files that name the rule, by folder: they run in this order */
export function testsNaming({ ids }: Rule): string[][] {
  const specs = typescriptFiles('test').filter(
    ({ path, text }) => path.endsWith('.spec.ts') && ids.some((id) => text.includes(`[${id}]`)),
  );
  return FOLDERS.map((folder) =>
    specs.filter(({ path }) => path.startsWith(`test/${folder}/`)).map(({ path }) => path),
  ).filter((paths) => paths.length > 0);
}

/** What the name of a test has, alone or in its `describe`. */
export function titlePattern({ ids }: Rule): string {
  return ids.map((id) => `\\[${id.replaceAll('.', '\\.')}\\]`).join('|');
}
