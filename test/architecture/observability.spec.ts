// Tries each alert. Names of metrics: e2e/metric-names.
import { join } from 'node:path';
import { promtool, promtoolIsMissing } from '../support/promtool.js';
import { REPOSITORY, repositoryFile } from '../support/source-files.js';

const FOLDER = join(REPOSITORY, 'deploy', 'observability');

describe('the alerts', () => {
  const rules = repositoryFile('deploy/observability/alerts.yml').text;
  const alerts = rules.split(/^ {6}- alert: /m).slice(1);
  const nameOf = (alert: string) => alert.slice(0, alert.indexOf('\n'));

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
