// Step 3 of "Add a partner": the partner's code with its values, and one file for a coding agent.
import { useState } from 'preact/hooks';
import type { PartnerFacts, Snippet } from '../../../src/administration/partners/snippets.js';
import {
  agentText,
  backendSnippets,
  pageSnippets,
  policySnippet,
} from '../../../src/administration/partners/snippets.js';
import { Choice } from '../form.js';
import { Section } from '../parts.js';
import { CodeBlock } from './code-block.js';

const FOLDER = '../../../src/administration/partners/templates/';
const TEMPLATES = Object.fromEntries(
  Object.entries(
    import.meta.glob<string>('../../../src/administration/partners/templates/*', {
      eager: true,
      import: 'default',
      query: '?raw',
    }),
  ).map(([path, text]) => [path.slice(FOLDER.length).replace(/\.template$/, ''), text]),
);

export function CodeStep({ facts }: { facts: PartnerFacts }) {
  return (
    <Section title="3. Code">
      <Chosen label="Backend" name="backend" snippets={backendSnippets(TEMPLATES, facts)} />
      <Chosen label="Page" name="page" snippets={pageSnippets(TEMPLATES, facts)} />
      <p>If the page has a policy, it must allow the instance:</p>
      <CodeBlock title="Policy of the page" text={policySnippet(facts)} />
      <p>All of it in one file for a coding agent, without the private key:</p>
      <CodeBlock title="File for a coding agent" text={agentText(TEMPLATES, facts)} file="embed.md" />
    </Section>
  );
}

function Chosen({ label, name, snippets }: { label: string; name: string; snippets: readonly Snippet[] }) {
  const [id, setId] = useState(snippets[0]?.id ?? '');
  const shown = snippets.find((snippet) => snippet.id === id) ?? snippets[0];
  return (
    <>
      <div class="narrow">
        <Choice
          name={name}
          label={label}
          options={snippets.map((snippet) => ({ value: snippet.id, text: snippet.title }))}
          value={id}
          onChange={setId}
        />
      </div>
      {shown && <CodeBlock title={`${label}, ${shown.title}`} text={shown.text} file={shown.file} />}
    </>
  );
}
