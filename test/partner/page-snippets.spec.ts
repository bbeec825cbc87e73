// The pages in React and Vue that a partner copies compile with the types of the package.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compileScript, parse } from 'vue/compiler-sfc';
import { pageSnippets } from '../../src/administration/partners/snippets.js';
import { readTemplates } from '../../src/administration/partners/templates.js';
import { REPOSITORY } from '../support/source-files.js';

const COMPILER = join(REPOSITORY, 'node_modules', 'typescript', 'bin', 'tsc');
const COMPILING_MS = 120_000;

function snippet(wanted: string): string {
  const found = pageSnippets(readTemplates(), { baseUrl: 'https://instance.example' }).find(
    ({ id }) => id === wanted,
  );
  if (found === undefined) throw new Error(`there is no page for ${wanted}`);
  return found.text;
}

/** Returns what the compiler reports about a file of a partner's page. */
function problemsOf(name: string, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'page-snippet-'));
  writeFileSync(join(folder, name), text);
  const packages = join(REPOSITORY, 'node_modules');
  const compilerOptions = {
    jsx: 'react-jsx',
    noEmit: true,
    rootDir: '/',
    rootDirs: ['packages/embed/src', 'pages/embed'].map((path) => join(REPOSITORY, path)),
    paths: {
      '@embedded-token-exchange/embed/*': [join(REPOSITORY, 'packages', 'embed', 'src', '*.ts')],
      '*': [join(packages, '@types', '*'), join(packages, '*')],
    },
  };
  const settings = {
    extends: join(REPOSITORY, 'packages', 'embed', 'tsconfig.json'),
    compilerOptions,
    include: [name],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings));
  try {
    return execFileSync(process.execPath, [COMPILER, '-p', folder], { encoding: 'utf8' });
  } catch (error) {
    return String((error as { stdout?: unknown }).stdout);
  }
}

const camel = (name: string) => name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

/** The script of a Vue page, with its element as properties of the component. */
function scriptOfVue(text: string): string {
  const { descriptor, errors } = parse(text);
  expect(errors).toEqual([]);
  // Vue's own compiler accepts script and template.
  expect(compileScript(descriptor, { id: 'page', inlineTemplate: true }).content).toContain(
    'EmbeddedInstance',
  );
  const [, attributes = ''] =
    /<EmbeddedInstance\s+([^]*?)\s*\/>/.exec(descriptor.template?.content ?? '') ?? [];
  const given = [...attributes.matchAll(/([:@]?)([\w-]+)="([^"]*)"/g)].map(
    ([, kind, name = '', value = '']) =>
      kind === '@'
        ? `'on${name.charAt(0).toUpperCase()}${name.slice(1)}': ${value}`
        : `${camel(name)}: ${kind === '' ? JSON.stringify(value) : value}`,
  );
  const script =
    descriptor.scriptSetup?.content.replace('defineProps', 'const { userId } = defineProps') ?? '';
  return `${script}\nexport const used: InstanceType<typeof EmbeddedInstance>['$props'] = { ${given.join(', ')} };\n`;
}

describe("a partner's page", () => {
  it('compiles with React', () => expect(problemsOf('page.tsx', snippet('react'))).toBe(''), COMPILING_MS);

  it(
    'compiles with Vue',
    () => expect(problemsOf('page.ts', scriptOfVue(snippet('vue')))).toBe(''),
    COMPILING_MS,
  );

  it.each([
    ['page.tsx', snippet('react').replace('userKey', 'userKeys')],
    ['page.ts', scriptOfVue(snippet('vue').replace(':user-key', ':user-keys'))],
  ])(
    'does not compile with an unknown property: %s',
    (name, text) => {
      expect(problemsOf(name, text)).toContain('userKeys');
    },
    COMPILING_MS,
  );
});
