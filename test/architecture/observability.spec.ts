// Fires and resolves each alert. Names of metrics: e2e/metric-names.
import { join } from 'node:path';
import { parse } from 'yaml';
import { promtool, promtoolIsMissing } from '../support/promtool.js';
import { REPOSITORY, repositoryFile } from '../support/source-files.js';

const FOLDER = join(REPOSITORY, 'deploy', 'observability');

interface Rules {
  groups: { rules: { alert: string }[] }[];
}

interface Group {
  promql_expr_test: { expr: string; eval_time: string; exp_samples: { labels: string }[] }[];
}

const read = <T>(name: string) => parse(repositoryFile(`deploy/observability/${name}`).text) as T;

/** Whether promtool is told to find the alert among all that fire, and later not among them. */
function isFiredAndResolved(alert: string, { promql_expr_test: evaluations }: Group): boolean {
  const fires = evaluations
    .toSorted((one, other) => minutes(one.eval_time) - minutes(other.eval_time))
    .map(({ exp_samples: samples }) => samples.some(({ labels }) => labels.includes(`"${alert}"`)));
  return fires.includes(true) && fires.lastIndexOf(false) > fires.indexOf(true);
}

function minutes(time: string): number {
  return Number(/^(\d+)m$/.exec(time)?.[1]);
}

describe('the alerts', () => {
  const alerts = read<Rules>('alerts.yml').groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));
  const { tests: groups } = read<{ tests: Group[] }>('alerts.test.yml');

  it.each(alerts)('%s is fired and resolved in a test', (alert) => {
    expect(groups.some((group) => isFiredAndResolved(alert, group))).toBe(true);
  });

  it('are tested by one expression that lists all firing alerts', () => {
    const all = groups.flatMap((group) => group.promql_expr_test.map(({ expr }) => expr));
    expect([...new Set(all)]).toEqual([
      'group by (alertname, job, instance, entry, sink, flow) (ALERTS{alertstate="firing"})',
    ]);
  });

  const missing = promtoolIsMissing();
  if (missing !== undefined) it.skip(`skipped: ${missing}`, () => undefined);
  else {
    it('are valid Prometheus rules', () => {
      expect(promtool(['check', 'rules', 'alerts.yml'], { cwd: FOLDER })).toContain(
        `${alerts.length} rules found`,
      );
    });

    it('fire and resolve as they should', () => {
      expect(promtool(['test', 'rules', 'alerts.test.yml'], { cwd: FOLDER })).toContain('SUCCESS');
    });
  }
});
