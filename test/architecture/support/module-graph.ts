// Reads what TypeScript files import, and finds circles, barrels and other things that a file's syntax shows.
import { posix } from 'node:path';
import ts from 'typescript';
import type { SourceFile } from '../../support/source-files.js';
import { parse, visitNodes } from '../../support/source-files.js';

/** One import or re-export, type-only ones included. */
export interface Import {
  /** The path of the importing file. */
  readonly from: string;
  /** What is imported: the path of a file for a relative import, else the package as it is written. */
  readonly to: string;
  /** The names that are taken, as the imported module calls them; none for `import * as` and `import()`. */
  readonly names: readonly string[];
}

/** Everything that a file imports: `import`, `export … from`, `import()` and import types. */
export function importsOf(file: SourceFile): Import[] {
  const imports: Import[] = [];
  visitNodes(file, (node) => {
    const specifier = specifierOf(node);
    if (specifier === undefined) return;
    imports.push({ from: file.path, to: resolveSpecifier(file.path, specifier), names: namesOf(node) });
  });
  return imports;
}

/** Circles among the files, each told once as `a.ts → b.ts → a.ts`. */
export function circles(imports: readonly Import[]): string[] {
  const found = new Map<string, string>();
  const finished = new Set<string>();
  const follow = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start >= 0) {
      const circle = trail.slice(start);
      found.set([...circle].sort().join(), [...circle, path].join(' → '));
      return;
    }
    if (finished.has(path)) return;
    for (const next of targets.get(path) ?? []) follow(next, [...trail, path]);
    finished.add(path);
  };
  const targets = new Map<string, string[]>();
  for (const { from, to } of imports) targets.set(from, [...(targets.get(from) ?? []), to]);
  for (const path of targets.keys()) follow(path, []);
  return [...found.values()];
}

/** Whether a file has nothing of its own and only passes on what others export. */
export function isBarrel(file: SourceFile): boolean {
  const { statements } = parse(file);
  const passesOn = statements.some((statement) => ts.isExportDeclaration(statement));
  return (
    passesOn &&
    statements.every((statement) => ts.isExportDeclaration(statement) || ts.isImportDeclaration(statement))
  );
}

/** Whether a file names `forwardRef`, comments aside. */
export function usesForwardRef(file: SourceFile): boolean {
  return some(file, (node) => ts.isIdentifier(node) && node.text === 'forwardRef');
}

/** Whether a file offers something to modules that do not import it: `@Global()`, `global: true`, a package's `forRoot`. */
export function isGlobalModule(file: SourceFile): boolean {
  return some(file, (node) => {
    if (ts.isPropertyAssignment(node)) return node.getText().replaceAll(' ', '') === 'global:true';
    if (ts.isDecorator(node)) return /^@Global\b/.test(node.getText());
    if (!ts.isCallExpression(node) || !/\.forRoot(Async)?$/.test(node.expression.getText())) return false;
    return !node.arguments.some((argument) => /\bglobal: *false\b/.test(argument.getText()));
  });
}

/** Whether a file reads the environment: `process.env`, `process['env']`, `{ env } = process`, or its import. */
export function readsEnvironment(file: SourceFile): boolean {
  const imported = importsOf(file).some(
    ({ to, names }) => /^(node:)?process$/.test(to) && names.includes('env'),
  );
  return imported || some(file, isEnvironmentAccess);
}

function isEnvironmentAccess(node: ts.Node): boolean {
  if (ts.isPropertyAccessExpression(node)) return isProcess(node.expression) && node.name.text === 'env';
  if (ts.isElementAccessExpression(node)) {
    const { argumentExpression: key } = node;
    return isProcess(node.expression) && ts.isStringLiteralLike(key) && key.text === 'env';
  }
  if (!ts.isVariableDeclaration(node) || !ts.isObjectBindingPattern(node.name)) return false;
  return isProcess(node.initializer) && node.name.elements.some((element) => boundKey(element) === 'env');
}

/** `process` and `globalThis.process`. */
function isProcess(node: ts.Node | undefined): boolean {
  if (node === undefined) return false;
  if (ts.isPropertyAccessExpression(node)) return node.name.text === 'process';
  return ts.isIdentifier(node) && node.text === 'process';
}

function boundKey({ propertyName, name }: ts.BindingElement): string {
  return (propertyName ?? name).getText();
}

function some(file: SourceFile, matches: (node: ts.Node) => boolean): boolean {
  let found = false;
  visitNodes(file, (node) => {
    found ||= matches(node);
  });
  return found;
}

function specifierOf(node: ts.Node): string | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return literalText(node.moduleSpecifier);
  if (ts.isImportTypeNode(node))
    return ts.isLiteralTypeNode(node.argument) ? literalText(node.argument.literal) : undefined;
  const isDynamic = ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword;
  return isDynamic ? literalText(node.arguments[0]) : undefined;
}

function literalText(node: ts.Node | undefined): string | undefined {
  return node !== undefined && ts.isStringLiteralLike(node) ? node.text : undefined;
}

function namesOf(node: ts.Node): string[] {
  if (ts.isImportTypeNode(node)) return node.qualifier === undefined ? [] : [node.qualifier.getText()];
  const clause = ts.isImportDeclaration(node) ? node.importClause?.namedBindings : undefined;
  const exported = ts.isExportDeclaration(node) ? node.exportClause : undefined;
  const list = clause ?? exported;
  if (list === undefined || ts.isNamespaceImport(list) || ts.isNamespaceExport(list)) return [];
  return list.elements.map((element) => (element.propertyName ?? element.name).text);
}

/** `./rejection.js` in `src/token-exchange/journey.ts` is `src/token-exchange/rejection.ts`. */
function resolveSpecifier(from: string, specifier: string): string {
  if (!specifier.startsWith('.')) return specifier;
  return posix.join(posix.dirname(from), specifier).replace(/\.js$/, '.ts');
}
