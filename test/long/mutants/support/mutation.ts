// Finds the places of a source file where one small change makes it behave otherwise, and describes the change.
import { readFileSync } from 'node:fs';
import ts from 'typescript';

/** One change: the code from `start` to `end` is replaced by `text`. */
export interface Mutant {
  /** Absolute. */
  readonly file: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** The line, the old code and the new code. */
  readonly change: string;
}

const OTHER_OPERATORS: Partial<Record<ts.SyntaxKind, string>> = {
  [ts.SyntaxKind.LessThanToken]: '<=',
  [ts.SyntaxKind.LessThanEqualsToken]: '<',
  [ts.SyntaxKind.GreaterThanToken]: '>=',
  [ts.SyntaxKind.GreaterThanEqualsToken]: '>',
  [ts.SyntaxKind.EqualsEqualsEqualsToken]: '!==',
  [ts.SyntaxKind.ExclamationEqualsEqualsToken]: '===',
  [ts.SyntaxKind.AmpersandAmpersandToken]: '||',
  [ts.SyntaxKind.BarBarToken]: '&&',
  [ts.SyntaxKind.PlusToken]: '-',
  [ts.SyntaxKind.MinusToken]: '+',
};

export function mutantsOf(file: string): Mutant[] {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
  const mutants: Mutant[] = [];
  const visit = (node: ts.Node) => {
    // What is gone when the program runs, or only says how it is put together.
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isDecorator(node)) return;
    if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node) || ts.isExportDeclaration(node))
      return;
    if (isText(node)) return;
    for (const [place, text] of changesOf(node)) mutants.push(mutantAt(source, place, text));
    node.forEachChild(visit);
  };
  source.forEachChild(visit);
  return mutants;
}

/** What is put together of strings is for people, and no rule. */
function isText(node: ts.Node): boolean {
  if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.PlusToken) return false;
  return ts.isStringLiteralLike(node.left) || ts.isStringLiteralLike(node.right);
}

function mutantAt(source: ts.SourceFile, place: ts.Node, text: string): Mutant {
  const start = place.getStart();
  const line = source.getLineAndCharacterOfPosition(start).line + 1;
  const short = (code: string) => code.replace(/\s+/g, ' ').slice(0, 100);
  const change = `${line}: ${short(place.getText())} -> ${short(text)}`;
  return { file: source.fileName, start, end: place.getEnd(), text, change };
}

function changesOf(node: ts.Node): (readonly [place: ts.Node, text: string])[] {
  if (ts.isBinaryExpression(node)) {
    const other = OTHER_OPERATORS[node.operatorToken.kind];
    return other === undefined ? [] : [[node.operatorToken, other]];
  }
  if (ts.isIfStatement(node)) return [[node.expression, `!(${node.expression.getText()})`]];
  if (ts.isConditionalExpression(node)) return [[node.condition, `!(${node.condition.getText()})`]];
  if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken)
    return [[node, node.operand.getText()]];
  // `return undefined` and `return` are the same.
  if (ts.isReturnStatement(node) && node.expression !== undefined)
    return node.expression.getText() === 'undefined' ? [] : [[node, 'return;']];
  if (ts.isThrowStatement(node) || isCall(node)) return [[node, '{}']];
  return literalChanges(node);
}

/** A call whose result is unused. `super()` is excluded, because a subclass requires it. */
function isCall(node: ts.Node): boolean {
  if (!ts.isExpressionStatement(node)) return false;
  const call = ts.isAwaitExpression(node.expression) ? node.expression.expression : node.expression;
  return ts.isCallExpression(call) && call.expression.kind !== ts.SyntaxKind.SuperKeyword;
}

function literalChanges(node: ts.Node): [ts.Node, string][] {
  if (node.kind === ts.SyntaxKind.TrueKeyword) return [[node, 'false']];
  if (node.kind === ts.SyntaxKind.FalseKeyword) return [[node, 'true']];
  // A word of a program is of a type that the compiler checks.
  return ts.isNumericLiteral(node) ? [[node, String(Number(node.text) + 1)]] : [];
}
