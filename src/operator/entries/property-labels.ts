// Names the properties of trusted entries as the page's form does, in findings, causes and remedies.
import type { Row } from '../../token-exchange/instance.js';
import { POLICY } from '../../token-exchange/instance.js';

const LABELS = new Map(Object.entries<Row<unknown>>(POLICY).map(([name, { label }]) => [name, label]));

/** `entry 0, maxUsers: …` becomes `entry 0, Users at most (maxUsers): …`. */
export function withLabels(findings: readonly string[]): string[] {
  return findings.map((finding) =>
    finding.replace(/(?<=^|, |: )([a-z]\w*)((?:\.\w+)*): /, (found, name: string, rest: string) => {
      const label = LABELS.get(name)?.replaceAll('`', '');
      return label === undefined ? found : `${label} (${name}${rest}): `;
    }),
  );
}

interface Explained {
  readonly cause: string | null;
  readonly remedy: string | null;
}

/** `maxUsers` becomes “Users at most” (`maxUsers`). Names of one word stay, because they are words or claims too. */
export function inLabels<E extends Explained>(explained: E): E {
  const worded = (text: string | null) =>
    text?.replace(/`([a-z]+[A-Z]\w*)(?:: \w+)?`/g, (code, name: string) => {
      const label = LABELS.get(name);
      return label === undefined ? code : `“${label.replaceAll('`', '')}” (${code})`;
    }) ?? null;
  return { ...explained, cause: worded(explained.cause), remedy: worded(explained.remedy) };
}
