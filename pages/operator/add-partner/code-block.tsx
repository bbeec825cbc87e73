// Code to copy or save.
import { useState } from 'preact/hooks';
import { News } from '../../shared/states.js';

export interface CodeBlockProps {
  /** Says to assistive technology what it is. */
  title: string;
  text: string;
  /** The name under which it is saved; left out: it is only copied. */
  file?: string;
}

export function CodeBlock({ title, text, file }: CodeBlockProps) {
  const [news, setNews] = useState('');
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setNews('Copied.'),
      () => setNews('The browser did not copy it. Select the text and copy it.'),
    );
  return (
    <div class="code-block">
      <pre class="card padded" tabIndex={0} role="region" aria-label={title}>
        <code>{text}</code>
      </pre>
      <div class="buttons">
        <button type="button" onClick={() => void copy()}>
          Copy <span class="unseen">{title}</span>
        </button>
        {file !== undefined && (
          <button type="button" onClick={() => save(text, file)}>
            Save as {file}
          </button>
        )}
        <span class="soft" aria-hidden="true">
          {news}
        </span>
      </div>
      <News text={news} />
    </div>
  );
}

function save(text: string, file: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
  link.download = file;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
