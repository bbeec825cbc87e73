// Names the properties of trusted entries as the page's form does, in findings that begin with a property.
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
