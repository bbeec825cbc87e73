// Linting rules: sound types and promises, small functions, no way around logger and configuration.
import js from '@eslint/js';
import { defineConfig, globalIgnores } from 'eslint/config';
import simpleImportSort from 'eslint-plugin-simple-import-sort';
import globals from 'globals';
import tseslint from 'typescript-eslint';
import { imports } from './eslint.imports.mjs';

const entryFiles = ['src/main.ts', 'src/start.ts', 'src/cli/svc-admin.ts'];
const environmentHint = 'Only entry files read the environment; take the validated configuration.';
const everywhere = [
  {
    selector: 'ExportDefaultDeclaration',
    message: 'Export by name: a thing has the same name everywhere.',
  },
];
const globalModules = [
  "Decorator[expression.callee.name='Global']",
  "Property[key.name='global'][value.value=true]",
  "CallExpression[callee.property.name=/^forRoot(Async)?$/]:not(:has(Property[key.name='global'][value.value=false]))",
].map((selector) => ({
  selector,
  message: 'CoreModule, DatabaseModule and TokenExchangeModule are global; import the others.',
}));

const environment = ['process', 'node:process'].map((name) => ({
  name,
  importNames: ['env'],
  message: environmentHint,
}));
const forwardRef = {
  name: '@nestjs/common',
  importNames: ['forwardRef'],
  message: 'Modules form no cycles.',
};

const lateImports = {
  group: ['@electric-sql/pglite', '@electric-sql/pglite/*', '@node-rs/argon2'],
  allowTypeImports: true,
  message: 'Most installations never use it: import() it where it is used.',
};

export default defineConfig(
  globalIgnores(['dist', 'dist-package', 'coverage', 'examples/*/dist', 'test/long/embed/apps']),
  {
    linterOptions: { noInlineConfig: true, reportUnusedDisableDirectives: 'error' },
    extends: [js.configs.recommended],
    plugins: { 'simple-import-sort': simpleImportSort },
    rules: {
      eqeqeq: 'error',
      complexity: ['error', 12],
      // Packages before files, without blank lines between them.
      'simple-import-sort/imports': ['error', { groups: [['^\\u0000', '^node:', '^@?\\w', '^\\.']] }],
      'no-duplicate-imports': ['error', { allowSeparateTypeImports: true }],
      'no-var': 'error',
      'prefer-const': 'error',
    },
  },
  {
    files: ['**/*.ts', '**/*.tsx'],
    extends: [tseslint.configs.recommendedTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: {
      parserOptions: {
        project: [
          './tsconfig.json',
          './pages/tsconfig.json',
          './pages/operator/tsconfig.json',
          './test/unit/pages/tsconfig.json',
          './examples/tsconfig.json',
          './test/package/host/tsconfig.json',
          './packages/partner/tsconfig.json',
          './packages/embed/tsconfig.json',
          './test/partner/consumer/tsconfig.json',
        ],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      // In files with decorators the rule keeps quiet by itself: their metadata needs the values.
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', ignoreRestSiblings: true }],
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      // An interface that takes its members from a catalogue is open to declaration merging, which a type is not.
      '@typescript-eslint/no-empty-object-type': ['error', { allowInterfaces: 'with-single-extends' }],
      // Constraint methods and ports are async by contract, whether or not one of them awaits.
      '@typescript-eslint/require-await': 'off',
      // process.env and parsed JSON are read with brackets where the key is not an identifier of the code.
      '@typescript-eslint/dot-notation': 'off',
      // `||` is meant where an empty string counts as missing.
      '@typescript-eslint/prefer-nullish-coalescing': ['error', { ignorePrimitives: { string: true } }],
      'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
      'no-restricted-syntax': ['error', ...everywhere],
    },
  },
  {
    files: ['src/**/*.ts', 'packages/**/*.ts'],
    rules: { 'no-console': 'error', 'max-lines': ['error', 500] },
  },
  {
    files: ['src/**/*.ts'],
    plugins: { imports },
    rules: {
      'imports/downwards': 'error',
      'imports/entries': 'error',
      'imports/no-cycle': 'error',
      'imports/privileged': 'error',
      'no-restricted-syntax': ['error', ...everywhere, ...globalModules],
      '@typescript-eslint/no-restricted-imports': ['error', { patterns: [lateImports] }],
    },
  },
  {
    files: [
      'src/core.module.ts',
      'src/instance/token-exchange.modules.ts',
      'src/platform/database/database.module.ts',
      'src/token-exchange/token-exchange.module-definition.ts',
    ],
    rules: { 'no-restricted-syntax': ['error', ...everywhere] },
  },
  {
    files: ['src/**/*.ts'],
    ignores: entryFiles,
    rules: {
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: environmentHint },
        {
          object: 'URL',
          property: 'canParse',
          message: 'Read addresses by parsedUrl of platform/text/url.ts.',
        },
      ],
      'no-restricted-imports': ['error', { paths: [...environment, forwardRef] }],
    },
  },
  {
    files: ['test/**/*.ts'],
    rules: {
      // Answers arrive as parsed JSON, and a test that misreads one fails by itself.
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      'max-lines-per-function': 'off',
    },
  },
  {
    files: ['ormconfig.ts'],
    rules: {
      // The TypeORM command line takes the data source from the default export.
      'no-restricted-syntax': 'off',
    },
  },
  {
    files: [
      'scripts/**/*.mjs',
      'pages/*.mjs',
      'bench/**/*.mjs',
      'examples/**/*.mjs',
      'test/**/*.mjs',
      'eslint.*.{js,mjs}',
    ],
    languageOptions: { globals: globals.nodeBuiltin },
  },
  {
    files: ['**/*.cjs'],
    languageOptions: { sourceType: 'commonjs', globals: globals.node },
  },
  {
    // React reads the attributes of its elements from a namespace of its own.
    files: ['packages/embed/src/react.ts'],
    rules: { '@typescript-eslint/no-namespace': ['error', { allowDeclarations: true }] },
  },
  {
    // In host pages, whose developers read the console.
    files: ['pages/embed/*.ts'],
    rules: { 'no-console': ['error', { allow: ['warn'] }], 'no-restricted-properties': 'off' },
  },
  {
    // Pages' own scripts: modules that a browser loads as they are.
    files: ['src/workspace/reference/public/**/*.js', 'demo/**/*.js', 'examples/partners/page/*.js'],
    languageOptions: { globals: globals.browser },
  },
);
