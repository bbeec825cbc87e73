// Checks every import of the service against the floors, and what only some files may use.
import type { SourceFile } from '../support/source-files.js';
import { repositoryFiles } from '../support/source-files.js';
import {
  ENVIRONMENT_READERS,
  HOUSE,
  PACKAGE_ENTRIES,
  PRIVILEGES,
  TOKEN_EXCHANGE,
  crossings,
  unprivileged,
  violations,
} from './support/floors.js';
import {
  circles,
  importsOf,
  isBarrel,
  isGlobalModule,
  readsEnvironment,
  usesForwardRef,
} from './support/module-graph.js';

const pathOf = ({ path }: SourceFile) => path;

describe('the service', () => {
  const files = repositoryFiles().filter(({ path }) => /^((src|demo)\/.*|ormconfig)\.ts$/.test(path));
  const service = files.filter(({ path }) => !path.startsWith('demo/'));
  const imports = files.flatMap(importsOf);

  it('is read: files and the imports between them are found', () => {
    expect(imports).toContainEqual({
      from: 'src/database/database.module.ts',
      to: 'src/token-exchange/database/transaction.ts',
      names: ['Transactions'],
    });
  });

  it('imports downwards or within a room', () => {
    expect(violations(HOUSE, imports, service.map(pathOf))).toEqual([]);
  });

  it('keeps the order inside token exchange', () => {
    const inside = service.map(pathOf).filter((path) => path.startsWith('src/token-exchange/'));
    expect(violations(TOKEN_EXCHANGE, imports, inside)).toEqual([]);
  });

  it('imports from token exchange nothing that is not packed with it', () => {
    expect(
      crossings(imports, /^src\/token-exchange\//, /^(?!src\/token-exchange\/)(src|demo|test)\//),
    ).toEqual([]);
  });

  it('offers nothing to a module that does not import it', () => {
    expect(service.filter(isGlobalModule).map(pathOf)).toEqual([]);
  });

  it('shares no code with the demo partner, and none with the tests', () => {
    expect(crossings(imports, /^demo\//, /^(src|test)\/|^ormconfig/)).toEqual([]);
    expect(crossings(imports, /^(src\/|ormconfig)/, /^(demo|test)\//)).toEqual([]);
  });

  it('has no circle of imports', () => {
    expect(circles(imports)).toEqual([]);
  });

  it('has no barrel but the entries of the package, and no forwardRef', () => {
    const barrels = service.filter(isBarrel).map(pathOf);
    expect(barrels.filter((path) => !PACKAGE_ENTRIES.test(path))).toEqual([]);
    expect(service.filter(usesForwardRef).map(pathOf)).toEqual([]);
  });

  it('knows TypeORM in repositories and HTTP at the edge only', () => {
    const ours = imports.filter(({ from }) => !from.startsWith('demo/'));
    expect(unprivileged(PRIVILEGES, ours)).toEqual([]);
  });

  it('reads the environment in entry files only', () => {
    const readers = service.filter(readsEnvironment).map(pathOf);
    expect(readers.filter((path) => !ENVIRONMENT_READERS.test(path))).toEqual([]);
  });
});

describe('the reading of imports', () => {
  const read = (text: string) =>
    importsOf({ path: 'src/users/a.ts', text }).map(({ to, names }) => ({ to, names }));

  it.each([
    ['names', "import { A, type B as C } from './b.js';", 'src/users/b.ts', ['A', 'B']],
    ['types', "import type { A } from '../http/b.js';", 'src/http/b.ts', ['A']],
    ['a namespace', "import * as all from 'typeorm';", 'typeorm', []],
    ['nothing but the effect', "import 'reflect-metadata';", 'reflect-metadata', []],
    ['what is passed on', "export { A } from './b.js';", 'src/users/b.ts', ['A']],
    ['all that is passed on', "export * from './b.js';", 'src/users/b.ts', []],
    ['at run time', "const b = await import('./b.js');", 'src/users/b.ts', []],
    ['in a type', "let a: import('./b.js').A;", 'src/users/b.ts', ['A']],
  ])('sees %s', (_, text, to, names) => {
    expect(read(text)).toEqual([{ to, names }]);
  });

  it('sees no import in comments and strings', () => {
    expect(read("// import { A } from './b.js';\nconst text = \"import './b.js'\";")).toEqual([]);
  });
});

describe('the checks', () => {
  const oneImport = (from: string, to: string, ...names: string[]) => ({ from, to, names });
  const file = (text: string) => ({ path: 'src/a.ts', text });

  it.each([
    ['upwards', 'src/users/a.ts', 'src/http/b.ts'],
    ['to a neighbour', 'src/workspace/a.ts', 'src/token-exchange/b.ts'],
    ['from the lowest floor to a neighbour', 'src/token-exchange/foundation/clock.ts', 'src/config/b.ts'],
    ['from composition to an entry file', 'src/application.ts', 'src/main.ts'],
  ])('report an import that goes %s', (_, from, to) => {
    expect(violations(HOUSE, [oneImport(from, to)], [])).toEqual([`${from} may not import ${to}`]);
  });

  it.each([
    ['downwards', 'src/http/a.ts', 'src/config/b.ts'],
    ['within a folder', 'src/users/a.ts', 'src/users/b.ts'],
    ['within the composition', 'src/application.ts', 'src/app.module.ts'],
    ['to a package', 'src/users/a.ts', 'pino'],
  ])('allow an import that goes %s', (_, from, to) => {
    expect(violations(HOUSE, [oneImport(from, to)], [])).toEqual([]);
  });

  it('report a file without a place', () => {
    expect(violations(HOUSE, [], ['src/misc/a.ts', 'src/users/a.ts'])).toEqual([
      'src/misc/a.ts has no place in the plan',
    ]);
  });

  it.each([
    ['one flow from the other', 'embed-login/a.ts', 'delegation/b.ts'],
    ['identity from verification', 'verification/a.ts', 'identity/b.ts'],
    ['a key provider from the options', 'token-exchange.options.ts', 'keys/b.ts'],
    ['the replay store from verification', 'verification/a.ts', 'consumption/jti.repository.ts'],
  ])('report, inside token exchange, an import of %s', (_, from, to) => {
    const [source, target] = [`src/token-exchange/${from}`, `src/token-exchange/${to}`];
    expect(violations(TOKEN_EXCHANGE, [oneImport(source, target)], [])).toEqual([
      `${source} may not import ${target}`,
    ]);
  });

  it('report an import across a border', () => {
    const imports = [oneImport('demo/a.ts', 'src/b.ts'), oneImport('demo/a.ts', 'demo/c.ts')];
    expect(crossings(imports, /^demo\//, /^src\//)).toEqual(['demo/a.ts may not import src/b.ts']);
  });

  it.each([
    ['src/users/user.service.ts', 'typeorm', 'DataSource'],
    ['src/users/user.service.ts', '@nestjs/typeorm', 'InjectRepository'],
    ['src/users/user.repository.ts', 'fastify', 'FastifyRequest'],
    ['src/token-exchange/sessions/session.service.ts', '@fastify/helmet', 'helmet'],
    ['src/token-exchange/sessions/session.service.ts', '@nestjs/common', 'UnauthorizedException'],
  ])('report that %s imports %s (%s)', (from, to, name) => {
    expect(unprivileged(PRIVILEGES, [oneImport(from, to, name)])).toHaveLength(1);
  });

  it.each([
    ['src/users/user.repository.ts', 'typeorm', 'Repository'],
    ['src/access/authentication.guard.ts', '@nestjs/common', 'UnauthorizedException'],
    ['src/http/server.ts', 'fastify', 'FastifyRequest'],
    ['src/users/user.service.ts', '@nestjs/common', 'Injectable'],
  ])('allow that %s imports %s (%s)', (from, to, name) => {
    expect(unprivileged(PRIVILEGES, [oneImport(from, to, name)])).toEqual([]);
  });

  it('report circles, each once, whatever leads into them', () => {
    const imports = [
      ['a', 'b'],
      ['b', 'c'],
      ['c', 'b'],
      ['d', 'b'],
      ['e', 'e'],
    ].map(([from = '', to = '']) => oneImport(from, to));
    expect(circles(imports)).toEqual(['b → c → b', 'e → e']);
    expect(circles(imports.slice(0, 2))).toEqual([]);
  });

  it('tell a barrel from a file with something of its own', () => {
    expect(isBarrel(file("import './b.js';\nexport { B } from './b.js';"))).toBe(true);
    expect(isBarrel(file("import { B } from './b.js';\nexport { B };"))).toBe(true);
    expect(isBarrel(file("export { B } from './b.js';\nexport const a = 1;"))).toBe(false);
    expect(isBarrel(file("import './b.js';"))).toBe(false);
  });

  it.each([
    ['@Global() @Module({}) class A {}', true],
    ['const module = { module: A, global: true };', true],
    ['const module = { module: A, global: false };', false],
    ['const module = EventEmitterModule.forRoot({ wildcard: true });', true],
    ['const module = EventEmitterModule.forRoot({ wildcard: true, global: false });', false],
    ['const imports = [TypeOrmModule.forRootAsync({})];', true],
    ['const imports = [TypeOrmModule.forFeature([])];', false],
    ['const imports = [ThrottlerModule.forRoot([])];', true],
    ['// @Global() and { global: true }', false],
  ])('see a global module in code, not in comments: %s', (text, expected) => {
    expect(isGlobalModule(file(text))).toBe(expected);
  });

  it('see forwardRef in code, not in comments', () => {
    expect(usesForwardRef(file('inject(forwardRef(() => A));'))).toBe(true);
    expect(usesForwardRef(file('// no forwardRef here'))).toBe(false);
  });

  it.each([
    'const a = process.env.A;',
    "const a = process['env'];",
    'const { env } = process;',
    'const { env: e } = process;',
    'const a = globalThis.process.env;',
    "import { env } from 'node:process';",
  ])('see the environment in %s', (text) => {
    expect(readsEnvironment(file(text))).toBe(true);
  });

  it.each(['// process.env', "const a = 'process.env';", 'const { pid } = process;', 'const a = host.env;'])(
    'see no environment in %s',
    (text) => {
      expect(readsEnvironment(file(text))).toBe(false);
    },
  );
});
