// A block of code to copy or save.
import { useState } from 'preact/hooks';
import { News } from '../../shared/states.js';
import { saveFile } from '../save-file.js';

export interface CodeBlockProps {
  /** The name for assistive technology. */
  title: string;
  text: string;
  /** The name of the saved file. Without it the code can only be copied. */
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
          <button type="button" onClick={() => saveFile(file, text)}>
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
