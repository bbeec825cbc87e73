// Reads from the code which lines it may write to the log at warn or above.
import ts from 'typescript';
import type { SourceFile } from '../../support/source-files.js';
import { lineOf, visitNodes } from '../../support/source-files.js';

const LEVELS = ['warn', 'error', 'fatal'];

/** A place that writes a line. */
export interface LogLine {
  /** `path:line`. */
  readonly place: string;
  readonly level: string;
  /** What the sentence says before its first value; undefined where it is made elsewhere. */
  readonly beginning: string | undefined;
}

/** Every call `log.warn({ … }, sentence)`, and so on. */
export function logLines(files: readonly SourceFile[]): LogLine[] {
  return files.flatMap((file) => {
    const lines: LogLine[] = [];
    visitNodes(file, (node) => {
      if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return;
      const level = node.expression.name.text;
      const sentence = node.arguments.at(-1);
      if (!LEVELS.includes(level) || sentence === undefined || !isLog(node.expression.expression)) return;
      lines.push({ place: `${file.path}:${lineOf(node)}`, level, beginning: beginningOf(sentence) });
    });
    return lines;
  });
}

/** `log`, `this.logger`, `this.parts.log` and the like. */
function isLog(target: ts.Expression): boolean {
  const name = ts.isPropertyAccessExpression(target) ? target.name : target;
  return ts.isIdentifier(name) && /^log(ger)?$/i.test(name.text);
}

function beginningOf(sentence: ts.Expression): string | undefined {
  if (ts.isStringLiteral(sentence) || ts.isNoSubstitutionTemplateLiteral(sentence)) return sentence.text;
  if (ts.isTemplateExpression(sentence)) return sentence.head.text.trim() || undefined;
  if (ts.isBinaryExpression(sentence)) return beginningOf(sentence.left);
  return undefined;
}
