// The lint rules about words and sentences, on texts that break them: a rule that reports nothing would pass any text.
import { Linter } from 'eslint';
import { prose } from '../../eslint.prose.mjs';
import { problemsOf } from '../../scripts/prose.mjs';

const BANNED = 'judges';
const LONG = `This has ${'many '.repeat(33)}words.`;

function problemsIn(text: string, filename = 'test/a.ts'): string[] {
  const rules = { 'prose/words': 2, 'prose/sentences': 2 } as const;
  const languageOptions = { ecmaVersion: 2023, sourceType: 'module' } as const;
  return new Linter()
    .verify(text, [{ files: ['**/*.{js,ts}'], plugins: { prose }, languageOptions, rules }], { filename })
    .map(({ message }) => message);
}

describe('the lint rules about words and sentences', () => {
  it.each([
    ['a comment', `// It ${BANNED} the token.`],
    ['a text', `const text = 'it ${BANNED} the token';`],
    ['a template', `const text = \`it ${BANNED} the token \${1}\`;`],
  ])('report a banned word in %s', (_, text) => {
    expect(problemsIn(text)).toEqual([`"${BANNED}": write check, validate`]);
  });

  it.each([
    ['a comment', `/** ${LONG} */`],
    ['a comment of two lines', `// This has ${'many '.repeat(20)}\n// ${'many '.repeat(13)}words.`],
  ])('report a sentence of more than 35 words in %s', (_, text) => {
    expect(problemsIn(text)).toEqual([expect.stringMatching(/^a sentence of 36 words: This has many/)]);
  });

  it.each([
    ['a name', 'const judged = 1;'],
    ['a short text, which is no prose', "const word = 'judged';"],
    ['a name within a comment', '// See `judged`.'],
    ['two sentences', `// ${LONG.replace(' many many', '. Many')}`],
    ['JSDoc with tags', `/**\n * ${'many '.repeat(30)}\n * @param name ${'many '.repeat(30)}\n */`],
  ])('allow %s', (_, text) => {
    expect(problemsIn(text)).toEqual([]);
  });
});

describe('the lint rule about words of src/', () => {
  const rule = '"told": write log, record, publish, say';

  it.each([
    ['src/a.ts', [rule]],
    ['test/src/a.ts', []],
    ['src/a.js', []],
  ])('reports in %s: %j', (filename, problems) => {
    expect(problemsIn('// It is told.', filename)).toEqual(problems);
  });

  it.each(['@param party which token', 'a third-party cookie', '`party`'])('allows %s', (text) => {
    expect(problemsIn(`// ${text}`, 'src/a.ts')).toEqual([]);
  });
});

describe('the check of documents', () => {
  it('reports banned words and long sentences, with their lines', () => {
    const problems = problemsOf('docs/a.md', `# Title\n\nThe house.\n\n- ${LONG}\n`);
    expect(problems).toEqual([
      'docs/a.md:3: "house": write codebase',
      expect.stringMatching(/^docs\/a\.md:5: a sentence of 36 words/),
    ]);
  });

  it('reads cells of tables, items of lists and paragraphs each for itself, and no code', () => {
    const half = 'many '.repeat(20);
    const text = `| ${half} | ${half} |\n|---|---|\n\n- ${half}\n- ${half}\n\n\`\`\`sh\nhouse\n\`\`\`\n`;
    expect(problemsOf('docs/a.md', text)).toEqual([]);
  });
});
