// Holds the alerts and the dashboard against themselves: each alert is tried and tells what to do. Names of metrics: e2e/metric-names.
import { join } from 'node:path';
import { promtool, promtoolIsMissing } from '../support/promtool.js';
import { REPOSITORY, repositoryFile } from '../support/source-files.js';

const FOLDER = join(REPOSITORY, 'deploy', 'observability');

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string }[];
}

describe('the alerts', () => {
  const rules = repositoryFile('deploy/observability/alerts.yml').text;
  const alerts = rules.split(/^ {6}- alert: /m).slice(1);
  const nameOf = (alert: string) => alert.slice(0, alert.indexOf('\n'));

  it('each have a severity, a summary and a runbook', () => {
    expect(alerts.length).toBeGreaterThan(10);
    const parts = /severity: (critical|warning)[^]*summary: '.{20,}'[^]*runbook: >-\n {12}\S.{60,}/;
    expect(alerts.filter((alert) => !parts.test(alert)).map(nameOf)).toEqual([]);
  });

  it('are each tried', () => {
    const tests = repositoryFile('deploy/observability/alerts.test.yml').text;
    expect(alerts.map(nameOf).filter((name) => !tests.includes(`"${name}"`))).toEqual([]);
  });

  const missing = promtoolIsMissing();
  if (missing !== undefined) it.skip(`skipped: ${missing}`, () => undefined);
  else {
    it('are rules as Prometheus reads them', () => {
      expect(promtool(['check', 'rules', 'alerts.yml'], { cwd: FOLDER })).toContain(
        `${alerts.length} rules found`,
      );
    });

    it('ring where they must, and not short of that', () => {
      expect(promtool(['test', 'rules', 'alerts.test.yml'], { cwd: FOLDER })).toContain('SUCCESS');
    });
  }
});

describe('the dashboard', () => {
  const { panels } = JSON.parse(repositoryFile('deploy/observability/grafana-dashboard.json').text) as {
    panels: Panel[];
  };
  const shown = panels.filter(({ type }) => type !== 'row');

  it('explains each of its panels, which ask for something', () => {
    expect(shown.length).toBeGreaterThan(15);
    expect(shown.filter(({ description, targets }) => !description || !targets?.length)).toEqual([]);
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  });

  it('puts no panel over another', () => {
    const overlaps = ({ gridPos: one }: Panel, { gridPos: other }: Panel) =>
      one.x < other.x + other.w &&
      other.x < one.x + one.w &&
      one.y < other.y + other.h &&
      other.y < one.y + one.h;
    const pairs = panels.flatMap((one, index) =>
      panels.slice(index + 1).map((other) => [one, other] as const),
    );
    expect(pairs.filter(([one, other]) => overlaps(one, other))).toEqual([]);
    expect(panels.filter(({ gridPos: { x, w } }) => x + w > 24)).toEqual([]);
  });
});
