// The code of a partner: filled in with its values, without secrets, and equal to what documents print.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PartnerFacts } from '../../../../src/administration/partners/snippets.js';
import {
  agentText,
  backendSnippets,
  pageSnippets,
  policySnippet,
} from '../../../../src/administration/partners/snippets.js';
import { readTemplates } from '../../../../src/administration/partners/templates.js';
import { ALGORITHMS, TOKEN_EXCHANGE_GRANT, TOKEN_PATH } from '../../../../src/token-exchange/instance.js';

const FACTS: PartnerFacts = {
  issuer: 'https://partner.example/tenant',
  audience: 'https://audience.example',
  baseUrl: 'https://instance.example',
  kid: '2026-11',
  algorithm: 'ES256',
  keyFile: 'keys/partner.pem',
};
const TEMPLATES = readTemplates();
const backends = backendSnippets(TEMPLATES, FACTS);

describe('the code for a partner', () => {
  it('has a backend in seven languages', () => {
    expect(backends.map(({ title }) => title)).toEqual([
      ...['Node.js', 'Python', 'Go', 'Java', 'PHP', 'C#', 'Ruby'],
    ]);
  });

  it.each(backends)('fills in every value of $title', ({ text }) => {
    const { issuer, audience, kid, algorithm, keyFile } = FACTS;
    const tokenAddress = `${FACTS.baseUrl}${TOKEN_PATH}`;
    for (const value of [issuer, audience, kid, algorithm, keyFile, tokenAddress, TOKEN_EXCHANGE_GRANT])
      expect(text).toContain(value);
    expect(text).not.toContain('{{');
    expect(text).toMatch(/jti|jwtID/i);
  });

  it.each(ALGORITHMS)('has a backend that signs with %s', (algorithm) => {
    const titles = backendSnippets(TEMPLATES, { ...FACTS, algorithm }).map(({ title }) => title);
    expect(titles).toEqual(expect.arrayContaining(['Node.js', 'Python', 'Go']));
    expect(titles.includes('Java')).toBe(algorithm !== 'EdDSA');
  });

  it('escapes values, so that none of them becomes code', () => {
    const kid = `'"\\ #{1} $x`;
    const texts = Object.fromEntries(
      backendSnippets(TEMPLATES, { ...FACTS, kid }).map(({ id, text }) => [id, text]),
    );
    for (const id of ['node', 'php', 'ruby']) expect(texts[id]).toContain(`'\\'"\\\\ #{1} $x'`);
    for (const id of ['python', 'go', 'java', 'csharp']) expect(texts[id]).toContain(`"'\\"\\\\ #{1} $x"`);
    const file = join(mkdtempSync(join(tmpdir(), 'snippets-')), 'automation.mjs');
    writeFileSync(file, texts['node'] ?? '');
    expect(spawnSync(process.execPath, ['--check', file], { encoding: 'utf8' })).toMatchObject({ status: 0 });
  });

  it("has a page for HTML, React and Vue, and the page's security policy", () => {
    expect(pageSnippets(TEMPLATES, FACTS).map(({ id }) => id)).toEqual(['html', 'react', 'vue']);
    for (const { text } of pageSnippets(TEMPLATES, FACTS)) expect(text).toContain(FACTS.baseUrl);
    expect(policySnippet(FACTS)).toContain(`frame-src ${FACTS.baseUrl};`);
  });

  it('has one file for a coding agent that contains everything except a key', () => {
    const whole = agentText(TEMPLATES, FACTS);
    for (const { text } of [...backends, ...pageSnippets(TEMPLATES, FACTS)]) expect(whole).toContain(text);
    expect(whole).toContain(policySnippet(FACTS));
    expect(whole).not.toMatch(/BEGIN [A-Z ]*KEY/);
  });
});
