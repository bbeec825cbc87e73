// The lint rules about imports, on code that breaks them: a rule that reports nothing would pass any code.
import { Linter } from 'eslint';
import { imports } from '../../eslint.imports.mjs';

/** Runs on the text as if it stood in that file of the repository. */
function problemsIn(filename: string, text: string): string[] {
  const rules = Object.fromEntries(
    Object.keys(imports.rules ?? {}).map((name) => [`imports/${name}`, 2 as const]),
  );
  const languageOptions = { ecmaVersion: 2023, sourceType: 'module' } as const;
  const config = [{ files: ['**/*.ts'], plugins: { imports }, languageOptions, rules }];
  return new Linter({ cwd: process.cwd() })
    .verify(text, config, { filename: `${process.cwd()}/${filename}` })
    .map(({ message }) => message);
}

describe('the lint rules about imports', () => {
  it.each([
    ['src/users/a.ts', '../workspace/b.js', 'users may not import workspace'],
    ['src/token-exchange/a.ts', '../config/b.js', 'token-exchange may not import config'],
    ['src/platform/log/a.ts', '../../token-exchange/index.js', 'platform may not import token-exchange'],
    ['src/users/a.ts', '../app.module.js', 'users may not import src/app.module.ts'],
    ['src/misc/a.ts', '../users/b.js', 'eslint.imports.mjs does not list misc'],
    ['src/users/a.ts', '../../test/support/b.js', 'src may not import test'],
  ])('report that %s imports %s', (file, specifier, message) => {
    expect(problemsIn(file, `import '${specifier}';`)).toContain(message);
    expect(problemsIn(file, `export * from '${specifier}';`)).toContain(message);
    expect(problemsIn(file, `void import('${specifier}');`)).toContain(message);
  });

  it.each([
    ['src/users/a.ts', "import 'typeorm';"],
    ['src/token-exchange/tokens/a.controller.ts', "import 'fastify';"],
    ['src/users/instance-users.ts', "import { NotFoundException } from '@nestjs/common';"],
  ])('report that %s has %s', (file, text) => {
    expect(problemsIn(file, text)).toHaveLength(1);
  });

  it.each(['flow.js', 'explain/token.explainer.js'])(
    'report that %s is imported past the entries',
    (file) => {
      const message = `src/token-exchange/${file.replace('.js', '.ts')} is imported past the entries of token-exchange`;
      expect(problemsIn('src/workspace/a.ts', `export { A } from '../token-exchange/${file}';`)).toEqual([
        message,
      ]);
    },
  );

  it('report a cycle, with the way that it takes', () => {
    expect(problemsIn('src/platform/database/sql.ts', "import '../../users/user.repository.js';")).toContain(
      'import cycle: src/platform/database/sql.ts → src/users/user.repository.ts → src/platform/database/sql.ts',
    );
  });

  it.each([
    ['src/workspace/a.ts', "import '../users/b.js'; import './c/d.js'; import 'node:fs';"],
    ['src/application.ts', "import './cli/svc-admin.js';"],
    [
      'src/application.ts',
      "import './token-exchange/index.js'; void import('./token-exchange/instance.js');",
    ],
    ['src/users/user.repository.ts', "import 'typeorm';"],
    ['src/platform/http/server.ts', "import 'fastify';"],
  ])('allow what %s has: %s', (file, text) => {
    expect(problemsIn(file, text)).toEqual([]);
  });
});
