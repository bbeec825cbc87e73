// The code of a new partner, filled in with its values. Documents, page, command and tests use this one source. Each program signs tokens, gives one to the page of a signed-in user, and exchanges one.
import { csharp, goProgram, java } from './compiled-programs.js';
import type { PartnerFacts } from './partner-facts.js';
import { attribute } from './partner-facts.js';
import { node, php, python, ruby } from './scripting-programs.js';

/** A program, and the algorithms for which its library signs. */
interface Program {
  readonly id: string;
  readonly title: string;
  readonly file: string;
  readonly language: string;
  readonly signs: RegExp;
  readonly write: (facts: PartnerFacts) => string;
}

const EVERY = /./;
const EC_AND_RSA = /^(ES|RS|PS)/;

export const PROGRAMS: readonly Program[] = [
  { id: 'node', title: 'Node.js', file: 'automation.mjs', language: 'js', signs: EVERY, write: node },
  { id: 'python', title: 'Python', file: 'automation.py', language: 'python', signs: EVERY, write: python },
  { id: 'go', title: 'Go', file: 'automation.go', language: 'go', signs: EVERY, write: goProgram },
  { id: 'java', title: 'Java', file: 'Automation.java', language: 'java', signs: EC_AND_RSA, write: java },
  {
    id: 'php',
    title: 'PHP',
    file: 'automation.php',
    language: 'php',
    signs: /^(ES256|ES384|RS)/,
    write: php,
  },
  { id: 'csharp', title: 'C#', file: 'Automation.cs', language: 'csharp', signs: EC_AND_RSA, write: csharp },
  { id: 'ruby', title: 'Ruby', file: 'automation.rb', language: 'ruby', signs: EC_AND_RSA, write: ruby },
];

export interface Snippet {
  readonly id: string;
  /** The language or framework. */
  readonly title: string;
  /** The name of its file. */
  readonly file: string;
  /** As Markdown names the language. */
  readonly language: string;
  readonly text: string;
}

/** The route of the partner's backend that gives its page a token. */
export const TOKEN_ROUTE = '/automation-token';

/** The backend in each language that has a library for the algorithm. */
export function backendSnippets(facts: PartnerFacts): Snippet[] {
  return PROGRAMS.filter(({ signs }) => signs.test(facts.algorithm)).map(
    ({ signs: _, write, ...program }) => ({
      ...program,
      text: write(facts),
    }),
  );
}

/** The partner's page: without a framework, with React, with Vue. */
export function pageSnippets({ baseUrl }: Pick<PartnerFacts, 'baseUrl'>): Snippet[] {
  return [
    { id: 'html', title: 'HTML', file: 'page.html', language: 'html', text: htmlPage(baseUrl) },
    { id: 'react', title: 'React', file: 'Automation.tsx', language: 'tsx', text: reactPage(baseUrl) },
    { id: 'vue', title: 'Vue', file: 'Automation.vue', language: 'vue', text: vuePage(baseUrl) },
  ];
}

/** What the Content-Security-Policy of the partner's page must allow, if it has one. */
export function policySnippet({ baseUrl }: Pick<PartnerFacts, 'baseUrl'>): string {
  return `Content-Security-Policy: frame-src ${baseUrl}; script-src 'self' ${baseUrl}; connect-src 'self' ${baseUrl}`;
}

function htmlPage(baseUrl: string): string {
  return `<script src="${attribute(baseUrl)}/embed.js"></script>
<embedded-instance id="automation" title="Automation" height="auto" accent="#c2185b"></embedded-instance>
<script type="module">
  document.getElementById('automation').fetchToken = async () => {
    const answer = await fetch('${TOKEN_ROUTE}', { method: 'POST' });
    if (!answer.ok) throw new Error('There is no token');
    return answer.text();
  };
</script>
`;
}

const FETCH_TOKEN = `async function fetchToken() {
  const answer = await fetch('${TOKEN_ROUTE}', { method: 'POST' });
  if (!answer.ok) throw new Error('There is no token');
  return answer.text();
}
`;

function reactPage(baseUrl: string): string {
  return `import { EmbeddedInstance } from '@embedded-token-exchange/embed/react';

${FETCH_TOKEN}
export function Automation({ user }: { user: { id: string } }) {
  return (
    <EmbeddedInstance url="${attribute(baseUrl)}" title="Automation" height="auto" userKey={user.id}
      fetchToken={fetchToken} onSessionEnded={({ reason }) => console.log(reason)} />
  );
}
`;
}

function vuePage(baseUrl: string): string {
  return `<script setup lang="ts">
import { EmbeddedInstance } from '@embedded-token-exchange/embed/vue';

defineProps<{ userId: string }>();

${FETCH_TOKEN}</script>

<template>
  <EmbeddedInstance url="${attribute(baseUrl)}" title="Automation" height="auto" :user-key="userId"
    :fetch-token="fetchToken" @session-ended="({ reason }) => console.log(reason)" />
</template>
`;
}

/** One file with all of it for a coding agent. It has no secret. */
export function agentText(facts: PartnerFacts): string {
  const { issuer, audience, baseUrl, kid, algorithm, keyFile } = facts;
  return `# Embed the instance ${baseUrl}

Add the instance to this product. Write the backend in the language of this product, and use one of the programs below.

| Value | |
|---|---|
| Issuer (\`iss\`) | \`${issuer}\` |
| Audience (\`aud\`) | \`${audience}\` |
| Instance | \`${baseUrl}\` |
| Key id (\`kid\`) | \`${kid}\` |
| Algorithm (\`alg\`) | \`${algorithm}\` |
| Private key | the file \`${keyFile}\`, or the one that \`PARTNER_KEY_FILE\` names. Never commit it, print it or send it to a browser |

## Rules

1. Sign only for a user whom this product's own session has authenticated. Never take the user from the request.
2. \`sub\` is this product's id of the user. It never changes and is never used again for another user.
3. Set \`email_verified\` to \`true\` only if this product has verified the address.
4. Each token has a new random \`jti\` and is used once. A token for the frame lives 60 seconds at most.
5. The route \`POST ${TOKEN_ROUTE}\` answers a new token as \`text/plain\` with \`Cache-Control: no-store\`, and 401 without a session.
6. After a failed exchange, log \`error\` and the header \`X-Request-Id\`. Never log a token.

## Backend

${backendSnippets(facts).map(inMarkdown).join('\n')}
## Page

${pageSnippets(facts).map(inMarkdown).join('\n')}
If the page has a Content-Security-Policy, it must allow the instance:

\`\`\`
${policySnippet(facts)}
\`\`\`

## Done when

- The page shows the frame with the instance, signed in as this product's user.
- An exchange of the backend answers an access token.
`;
}

function inMarkdown({ title, file, language, text }: Snippet): string {
  return `### ${title}: \`${file}\`\n\n\`\`\`${language}\n${text}\`\`\`\n`;
}
