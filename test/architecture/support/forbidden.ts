// Finds what no file of the repository may hold: paths of one machine, and tests that are switched off.
import ts from 'typescript';
import type { SourceFile } from '../../support/source-files.js';
import { lineOf, visitNodes } from '../../support/source-files.js';

const TEST_FUNCTIONS = ['it', 'test', 'describe'];
const ALONE = /^f(it|describe)$/;
const SWITCHED_OFF = /^x(it|test|describe)$/;
/** A skipped test says so, and why, where its title is printed. */
const REASON = /^skipped: ./;

/** Folders of one person's machine. In pieces, so that this file does not hold what it looks for. */
const MACHINE_FOLDERS = ['work', 'root', 'home'].map((folder) => `/${folder}/`);
const MACHINE_PATH = new RegExp(`${MACHINE_FOLDERS.join('|')}|/${'tmp'}/[a-z]`);
/** Comes before the address of the registry that happened to serve a package. */
const LOCKED_ADDRESS = `"${'resolved'}": `;

/** Lines that name a path of one machine, or, in a lock file, the address of a registry. */
export function machineTraces({ path, text }: SourceFile): string[] {
  const isTrace = (line: string): boolean =>
    MACHINE_PATH.test(line) || (path.endsWith('package-lock.json') && line.includes(LOCKED_ADDRESS));
  return text
    .split('\n')
    .flatMap((line, index) => (isTrace(line) ? [`${path}:${index + 1}: ${line.trim().slice(0, 120)}`] : []));
}

/** Tests that run alone, and tests that are switched off without a title that begins with `skipped: ` and says why. */
export function switchedOffTests(file: SourceFile): string[] {
  const problems: string[] = [];
  visitNodes(file, (node) => {
    const fault = faultOf(node);
    if (fault !== undefined) problems.push(`${file.path}:${lineOf(node)}: ${fault}`);
  });
  return problems;
}

function faultOf(node: ts.Node): string | undefined {
  if (ts.isCallExpression(node) && ts.isIdentifier(node.expression)) return faultOfName(node.expression.text);
  if (!ts.isPropertyAccessExpression(node) || !isTestFunction(node.expression)) return undefined;
  if (node.name.text === 'only') return 'runs alone';
  const isOff = node.name.text === 'skip' || node.name.text === 'todo';
  return isOff && !saysWhy(node.parent) ? 'is switched off without a reason' : undefined;
}

function faultOfName(name: string): string | undefined {
  if (ALONE.test(name)) return 'runs alone';
  return SWITCHED_OFF.test(name) ? 'is switched off without a reason' : undefined;
}

function isTestFunction(node: ts.Node): boolean {
  return ts.isIdentifier(node) && TEST_FUNCTIONS.includes(node.text);
}

function saysWhy(call: ts.Node): boolean {
  const title = ts.isCallExpression(call) ? call.arguments[0] : undefined;
  if (title === undefined) return false;
  if (ts.isStringLiteralLike(title)) return REASON.test(title.text);
  return ts.isTemplateExpression(title) && title.head.text === 'skipped: ';
}
