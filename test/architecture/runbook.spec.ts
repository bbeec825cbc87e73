// Holds the runbook against the code: every line at warn or above is in it, by how it begins, and no other.
import { repositoryFile, typescriptFiles } from '../support/source-files.js';
import { logLines } from './support/log-lines.js';

/** Sentences that are made of parts, by the file that writes them, with what the runbook says of them. */
const MADE_ELSEWHERE: Record<string, readonly string[]> = {
  'src/access/bearer-refusal.recorder.ts': ['the sentence of a refused token'],
  'src/token-exchange/http/token-exchange-auth.ts': ['the sentence of a refused token'],
  'src/main.ts': ['a line that names a variable'],
  'src/instance/availability.reporter.ts': ['token exchange is off, and its endpoints answer 404'],
  'src/token-exchange/http/refusal.filter.ts': [
    'a token exchange failed by a fault of the service',
    'a token revocation failed by a fault of the service',
    'an embedded login failed by a fault of the service',
    'the sentence of a refused token',
  ],
  'src/token-exchange/flows/notices.ts': ['the sentence of a refused token'],
  'src/token-exchange/http/flow.runner.ts': ['the sentence of a refused token'],
};
/** These pass on what others say. */
const MESSENGERS = ['src/platform/log/logger.ts', 'src/token-exchange/token-exchange.parts.ts'];

describe('the runbook', () => {
  const rows = repositoryFile('docs/runbook.md').text.match(/^\| .* \| (?:warn|error|fatal).*$/gm) ?? [];
  const beginnings = rows.flatMap((row) => {
    const cell = row.split(' | ')[0]?.slice(2) ?? '';
    const quoted = [...cell.matchAll(/`([^`]+)`/g)].map(([, text]) => text ?? '');
    return cell.startsWith('`') ? quoted : [cell];
  });
  const lines = logLines(typescriptFiles('src')).filter(({ place }) => !MESSENGERS.includes(fileOf(place)));
  const isTold = (sentence: string) => beginnings.some((beginning) => sentence.startsWith(beginning));

  it('has every line that the log may have at warn or above', () => {
    expect(lines.length).toBeGreaterThan(40);
    const unknown = lines.filter(({ place, beginning }) =>
      beginning === undefined ? MADE_ELSEWHERE[fileOf(place)] === undefined : !isTold(beginning),
    );
    expect(unknown).toEqual([]);
  });

  it('has no line that the log does not have', () => {
    const written = [
      ...lines.flatMap(({ beginning }) => beginning ?? []),
      ...Object.values(MADE_ELSEWHERE).flat(),
    ];
    const startsAlike = (one: string, other: string) => one.startsWith(other) || other.startsWith(one);
    expect(beginnings.filter((told) => !written.some((sentence) => startsAlike(told, sentence)))).toEqual([]);
  });
});

function fileOf(place: string): string {
  return place.slice(0, place.lastIndexOf(':'));
}
