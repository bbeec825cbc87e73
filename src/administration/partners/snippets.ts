// The code of a new partner, filled in with its values. Documents, page, command and tests use the same templates. Each program signs tokens, gives one to the page of a signed-in user, and exchanges one.

/** What the code of a partner needs to know. Nothing of it is secret. */
export interface PartnerFacts {
  readonly issuer: string;
  readonly audience: string;
  readonly baseUrl: string;
  readonly kid: string;
  readonly algorithm: string;
  /** The file with the private key, PEM. */
  readonly keyFile: string;
}

/** The texts of the folder `templates`, by their names without `.template`. */
export type Templates = Readonly<Record<string, string>>;

export interface Snippet {
  readonly id: string;
  readonly title: string;
  readonly file: string;
  /** As Markdown names the language. */
  readonly language: string;
  readonly text: string;
}

/** A program, and the algorithms for which its library signs. */
interface Program extends Omit<Snippet, 'text'> {
  readonly signs: RegExp;
}

const EVERY = /./;
const EC_AND_RSA = /^(ES|RS|PS)/;

export const PROGRAMS: readonly Program[] = [
  { id: 'node', title: 'Node.js', file: 'automation.mjs', language: 'js', signs: EVERY },
  { id: 'python', title: 'Python', file: 'automation.py', language: 'python', signs: EVERY },
  { id: 'go', title: 'Go', file: 'automation.go', language: 'go', signs: EVERY },
  { id: 'java', title: 'Java', file: 'Automation.java', language: 'java', signs: EC_AND_RSA },
  { id: 'php', title: 'PHP', file: 'automation.php', language: 'php', signs: /^(ES256|ES384|RS)/ },
  { id: 'csharp', title: 'C#', file: 'Automation.cs', language: 'csharp', signs: EC_AND_RSA },
  { id: 'ruby', title: 'Ruby', file: 'automation.rb', language: 'ruby', signs: EC_AND_RSA },
];

const PAGES: readonly Omit<Snippet, 'text'>[] = [
  { id: 'html', title: 'HTML', file: 'page.html', language: 'html' },
  { id: 'react', title: 'React', file: 'Automation.tsx', language: 'tsx' },
  { id: 'vue', title: 'Vue', file: 'Automation.vue', language: 'vue' },
];

/** The names of key types in Java and C#. */
const EC_NAMES = {
  family: 'EC',
  javaKey: 'ECPrivateKey',
  javaSigner: 'ECDSASigner',
  csharpKey: 'ECDsa',
  csharpSecurityKey: 'ECDsaSecurityKey',
};
const RSA_NAMES = {
  family: 'RSA',
  javaKey: 'RSAPrivateKey',
  javaSigner: 'RSASSASigner',
  csharpKey: 'RSA',
  csharpSecurityKey: 'RsaSecurityKey',
};

/** The backend in each language that has a library for the algorithm. */
export function backendSnippets(templates: Templates, facts: PartnerFacts): Snippet[] {
  const names = facts.algorithm.startsWith('ES') ? EC_NAMES : RSA_NAMES;
  const values = { ...facts, ...names, tokenAddress: `${facts.baseUrl}/rest/auth/oauth/token` };
  return PROGRAMS.filter(({ signs }) => signs.test(facts.algorithm)).map(({ signs: _, ...program }) => ({
    ...program,
    text: filled(templates, program.file, values),
  }));
}

/** The partner's page: without a framework, with React, with Vue. */
export function pageSnippets(templates: Templates, { baseUrl }: Pick<PartnerFacts, 'baseUrl'>): Snippet[] {
  const address = baseUrl.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
  return PAGES.map((page) => ({ ...page, text: filled(templates, page.file, { baseUrl: address }) }));
}

/** What the Content-Security-Policy of the partner's page must allow, if it has one. */
export function policySnippet({ baseUrl }: Pick<PartnerFacts, 'baseUrl'>): string {
  return `Content-Security-Policy: frame-src ${baseUrl}; script-src 'self' ${baseUrl}; connect-src 'self' ${baseUrl}`;
}

/** One file with all of it for a coding agent. It has no secret. */
export function agentText(templates: Templates, facts: PartnerFacts): string {
  const [backend, page] = [backendSnippets(templates, facts), pageSnippets(templates, facts)].map(
    (snippets) => snippets.map(inMarkdown).join('\n'),
  );
  return filled(templates, 'embed.md', { ...facts, policy: policySnippet(facts), backend, page });
}

function inMarkdown({ title, file, language, text }: Snippet): string {
  return `### ${title}: \`${file}\`\n\n\`\`\`${language}\n${text}\`\`\`\n`;
}

/** Replaces each `{{name}}`. Within quotes the value is escaped. */
function filled(templates: Templates, name: string, values: Readonly<Record<string, string | undefined>>) {
  const template = templates[name];
  if (template === undefined) throw new Error(`there is no template ${name}`);
  return template.replace(/(['"]?)\{\{(\w+)\}\}\1/g, (_, quote: string, member: string) =>
    quotedBy(quote, values[member] ?? ''),
  );
}

/**
 * JavaScript, Ruby and PHP: nothing but backslash and quote has a meaning between single quotes. Python, Go, Java and C# read the
 * escapes of JSON.
 */
function quotedBy(quote: string, text: string): string {
  if (quote === '"') return JSON.stringify(text);
  return quote === "'" ? `'${text.replace(/[\\']/g, '\\$&')}'` : text;
}
