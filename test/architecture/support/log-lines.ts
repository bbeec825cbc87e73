// Finds what the code logs at `warn` and above: the fixed parts of each message.
import ts from 'typescript';
import type { SourceFile } from '../../support/source-files.js';

/** What a message is computed from is replaced by this. */
export const COMPUTED = '…';

const LEVELS = new Set(['warn', 'error', 'fatal']);

/** The messages of one file, in its order. */
export function loggedMessages({ path, text }: SourceFile): string[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const constants = new Map<string, ts.Expression>();
  const messages: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isVariableDeclaration(node) && node.initializer !== undefined)
      constants.set(node.name.getText(), node.initializer);
    const message = messageOf(node);
    if (message !== undefined) messages.push(fixedParts(message, constants));
    ts.forEachChild(node, visit);
  };
  visit(file);
  return messages;
}

function messageOf(node: ts.Node): ts.Expression | undefined {
  if (ts.isNewExpression(node))
    return node.expression.getText() === 'RareWarning' ? node.arguments?.[1] : undefined;
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return undefined;
  const { expression: logger, name } = node.expression;
  return LEVELS.has(name.text) && /log(ger)?$/i.test(logger.getText()) ? node.arguments.at(-1) : undefined;
}

function fixedParts(node: ts.Expression, constants: ReadonlyMap<string, ts.Expression>): string {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isBinaryExpression(node))
    return fixedParts(node.left, constants) + fixedParts(node.right, constants);
  if (ts.isTemplateExpression(node)) {
    const spans = node.templateSpans.map(
      ({ expression, literal }) => fixedParts(expression, constants) + literal.text,
    );
    return node.head.text + spans.join('');
  }
  const constant = ts.isIdentifier(node) ? constants.get(node.text) : undefined;
  return constant === undefined || constant === node ? COMPUTED : fixedParts(constant, constants);
}
