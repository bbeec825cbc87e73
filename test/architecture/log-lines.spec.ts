// Compares docs/reference/log-lines.md with what the code logs at `warn` and above.
import { repositoryFile, typescriptFiles } from '../support/source-files.js';
import { COMPUTED, loggedMessages } from './support/log-lines.js';

const PAGE = 'docs/reference/log-lines.md';

/** How the page quotes the names of variables. */
const ANY_VARIABLE = 'SVC_…';

/** The number of computed log messages in each file: refusals, warnings about settings, and functions that forward messages. */
const COMPUTED_MESSAGES: Readonly<Record<string, number>> = {
  'src/access/bearer-refusal.recorder.ts': 1,
  'src/main.ts': 1,
  'src/platform/jobs/follower.ts': 1,
  'src/platform/log/log.ts': 1,
  'src/token-exchange/endpoint/flow-error.filter.ts': 1,
  'src/token-exchange/endpoint/flow.runner.ts': 2,
  'src/token-exchange/exchange/notices.ts': 1,
  'src/token-exchange/host/host.providers.ts': 2,
  'src/token-exchange/host/token-exchange-auth.ts': 1,
};

/** The lines that the items of the lists begin with, without the ellipses. */
const quoted = [...repositoryFile(PAGE).text.matchAll(/^- ((?:`[^`]+`(?:,\s)?)+): /gm)].flatMap(
  ([, head = '']) => [...head.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code.replace(/^… /, '')),
);
const logged = typescriptFiles('src').flatMap((file) =>
  loggedMessages(file).map((message) => ({ path: file.path, message })),
);

describe(PAGE, () => {
  it('has each line that the code logs at warn or above', () => {
    expect(logged.length).toBeGreaterThan(50);
    const missing = logged.filter(
      ({ message }) => message !== COMPUTED && !quoted.some((code) => message.includes(code)),
    );
    expect(missing).toEqual([]);
  });

  it('is checked against all files whose lines are computed', () => {
    const found: Record<string, number> = {};
    for (const { path, message } of logged) if (message === COMPUTED) found[path] = (found[path] ?? 0) + 1;
    expect(found).toEqual(COMPUTED_MESSAGES);
  });

  it('quotes only strings in the code', () => {
    const code = typescriptFiles('src')
      .map(({ text }) => text.replaceAll(/['`] \+\n\s*['`]/g, ''))
      .join('\n');
    expect(quoted.filter((each) => each !== ANY_VARIABLE && !code.includes(each))).toEqual([]);
  });
});
