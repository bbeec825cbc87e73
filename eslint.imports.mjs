// Rules about imports between modules of `src`, for ESLint: downwards only, no cycles of files, the package by its entries, and packages that only
// some files may know.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import ts from 'typescript';

/** ESLint runs where its configuration is. */
const root = process.cwd();

/** The modules of `src`, the lowest first: each imports those before it. Files in `src` itself compose them and import all. */
const MODULES = [
  'platform',
  'token-exchange',
  'config',
  'users',
  'audit',
  'metrics',
  'access',
  'workspace',
  'web',
  'instance',
  'health',
  'administration',
  'operator',
  'cli',
];

/** What a module may import that is not to import everything below it. `token-exchange` is an npm package of its own. */
const ALONE = { platform: [], 'token-exchange': ['platform'], config: ['platform', 'token-exchange'] };

/** The files of `token-exchange` that other modules of `src` import. */
const ENTRIES = ['index', 'advanced', 'instance'].map((name) => `src/token-exchange/${name}.ts`);

const HTTP_LAYER =
  /^src\/(token-exchange\/(metadata\/metadata\.controller|host\/token-exchange-auth|endpoint\/flow-error\.filter)|(?!token-exchange\/).*\.(controller|guards?|filter|pipe|interceptor|decorator)|(platform\/http|web|health|metrics|workspace\/api|administration\/socket)\/.*|application|main)\.ts$/;

/** Packages, or names of theirs, that only some files import. */
const PRIVILEGES = [
  {
    what: 'TypeORM',
    covers: (specifier) => /^(typeorm|@nestjs\/typeorm)(\/|$)/.test(specifier),
    holders:
      /(\.(repository|module)|\/token-exchange\/host\/host\.providers|\/(platform\/database|migrations)\/.*)\.ts$/,
  },
  {
    what: 'Fastify: the package also runs on Express',
    covers: (specifier) => /^(fastify|@fastify\/.*|@nestjs\/platform-fastify)(\/|$)/.test(specifier),
    holders: HTTP_LAYER,
  },
  {
    what: 'HTTP exceptions',
    covers: (specifier, node) =>
      specifier === '@nestjs/common' &&
      node.specifiers?.some(({ imported }) => imported?.name.endsWith('Exception')),
    holders: HTTP_LAYER,
  },
];

export const imports = {
  rules: {
    downwards: { create: downwards },
    entries: { create: entries },
    'no-cycle': { create: noCycle },
    privileged: { create: privileged },
  },
};

/** `src/users/email.ts` is in `users`; `src/main.ts` is in no module. */
function moduleOf(path) {
  const [top, name, ...rest] = path.split('/');
  return top === 'src' && rest.length > 0 ? name : undefined;
}

function downwards(context) {
  const from = pathOf(context.filename);
  const module = moduleOf(from);
  return onImports((node, specifier) => {
    const to = targetOf(from, specifier);
    const [top] = to.split('/');
    if (specifier.startsWith('.') && ['test', 'demo', 'bench'].includes(top) && from.startsWith('src/'))
      return context.report({ node, message: `src may not import ${top}` });
    const target = moduleOf(to);
    if (module === undefined || target === module || !specifier.startsWith('.')) return;
    if (target === undefined)
      return to.startsWith('src/') && context.report({ node, message: `${module} may not import ${to}` });
    const allowed = ALONE[module] ?? MODULES.slice(0, MODULES.indexOf(module));
    if (!MODULES.includes(module))
      context.report({ node, message: `eslint.imports.mjs does not list ${module}` });
    else if (!allowed.includes(target))
      context.report({ node, message: `${module} may not import ${target}` });
  });
}

function entries(context) {
  const from = pathOf(context.filename);
  if (!from.startsWith('src/') || moduleOf(from) === 'token-exchange') return {};
  return onImports((node, specifier) => {
    const to = targetOf(from, specifier);
    if (moduleOf(to) === 'token-exchange' && !ENTRIES.includes(to))
      context.report({ node, message: `${to} is imported past the entries of token-exchange` });
  });
}

function privileged(context) {
  const from = pathOf(context.filename);
  return onImports((node, specifier) => {
    for (const { what, covers, holders } of PRIVILEGES)
      if (covers(specifier, node) && !holders.test(from))
        context.report({ node, message: `${from} may not know ${what}` });
  });
}

function noCycle(context) {
  const from = pathOf(context.filename);
  return onImports((node, specifier) => {
    const to = targetOf(from, specifier);
    const cycle = fileGraph().has(to) ? pathBetween(fileGraph(), to, from) : undefined;
    if (cycle !== undefined)
      context.report({ node, message: `import cycle: ${[from, ...cycle].join(' → ')}` });
  });
}

/** The shortest way by imports from one file to another. */
function pathBetween(graph, start, end) {
  const ways = new Map([[start, [start]]]);
  for (const [path, way] of ways) {
    if (path === end) return way;
    for (const next of graph.get(path) ?? []) if (!ways.has(next)) ways.set(next, [...way, next]);
  }
  return undefined;
}

let cachedFileGraph;
/** Each file of `src` with the files that it imports. Read once for a run of ESLint. */
function fileGraph() {
  cachedFileGraph ??= new Map(
    readdirSync(join(root, 'src'), { recursive: true })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => {
        const path = `src/${name.split(sep).join('/')}`;
        const { importedFiles } = ts.preProcessFile(readFileSync(join(root, path), 'utf8'));
        return [path, importedFiles.map(({ fileName }) => targetOf(path, fileName))];
      }),
  );
  return cachedFileGraph;
}

function onImports(check) {
  const visit = (node) => {
    const source = node.source ?? node.argument?.literal ?? node.argument;
    if (typeof source?.value === 'string') check(node, source.value);
  };
  return {
    ImportDeclaration: visit,
    ExportNamedDeclaration: visit,
    ExportAllDeclaration: visit,
    ImportExpression: visit,
    TSImportType: visit,
  };
}

function pathOf(filename) {
  return relative(root, filename).split(sep).join('/');
}

/** The file of a relative import, else the specifier as it is written. */
function targetOf(from, specifier) {
  if (!specifier.startsWith('.')) return specifier;
  return pathOf(resolve(root, dirname(from), specifier)).replace(/\.js$/, '.ts');
}
