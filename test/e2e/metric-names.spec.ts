// Each metric of the service is documented, and what alerts, dashboard and document name is there.
import { Partner } from '../../demo/partner.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { JwksServer } from '../support/jwks-server.js';
import { metricsOf } from '../support/metric-samples.js';
import { promtool, promtoolIsMissing } from '../support/promtool.js';
import { repositoryFile } from '../support/source-files.js';
import { TestService } from '../support/test-service.js';
import { until } from '../support/until.js';

const DASHBOARD = 'deploy/observability/grafana-dashboard.json';
const ALERTS = 'deploy/observability/alerts.yml';
const METRIC = /\b(?:svc|process|nodejs)_\w+/g;
const OF_HISTOGRAM = /_(?:bucket|count|sum)$/;

describeOnAnyDatabase('[D91] the names of metrics', (database) => {
  const jwks = JwksServer.forBlock();
  const service = TestService.forBlock(database, () => {
    const publisher = Partner.create({ issuer: 'https://publisher.example' });
    jwks.publish(publisher.jwks());
    return {
      trustedKeys: [{ type: 'jwks', url: jwks.url, issuer: publisher.issuer }],
      environment: { SVC_TOKEN_EXCHANGE_JWKS_ALLOW_HTTP: 'true' },
    };
  });
  let exposition: string;
  beforeAll(async () => {
    await until('the key set is fetched', 60_000, async () => {
      exposition = await metricsOf(service);
      return exposition.includes('svc_jwks_keys_age_seconds{');
    });
  });

  const served = () => [...exposition.matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name ?? '');
  const rows = repositoryFile('docs/reference/metrics.md')
    .text.split('\n')
    .filter((line) => line.startsWith('- `svc_'));
  const own = () => served().filter((name) => name.startsWith('svc_'));
  const namedIn = (text: string) =>
    new Set([...text.matchAll(METRIC)].map(([name]) => name.replace(OF_HISTOGRAM, '')));

  /** The name and labels of a row, which are written as in PromQL. */
  const headOf = (row: string): string[] => /`(\w+)(?:\{([\w,]+)\})?`/.exec(row) ?? [];

  it('are in the list of docs/reference/metrics.md, each of them and no others', () => {
    const documented = rows.map((row) => headOf(row)[1] ?? '');
    expect(own().length).toBeGreaterThan(15);
    expect(documented.sort()).toEqual(own().sort());
  });

  it('have each label in that list', () => {
    const labels = [...exposition.matchAll(/^(svc_\w+)\{(.+)\} /gm)].flatMap(([, name = '', pairs = '']) =>
      [...pairs.matchAll(/(\w+)="/g)].map(([, label]) => [name.replace(OF_HISTOGRAM, ''), label ?? '']),
    );
    expect(labels.length).toBeGreaterThan(10);
    const undocumented = labels.filter(([name, label]) => {
      const [, , documented] = rows.map(headOf).find(([, each]) => each === name) ?? [];
      return label !== 'le' && !documented?.split(',').some((each) => each === label);
    });
    expect(undocumented).toEqual([]);
  });

  it.each([DASHBOARD, ALERTS])('that %s asks for are served', (path) => {
    const names = [...namedIn(repositoryFile(path).text)];
    expect(names.length).toBeGreaterThan(8);
    expect(names.filter((name) => !served().includes(name))).toEqual([]);
  });

  it('are all on the dashboard', () => {
    const shown = namedIn(repositoryFile(DASHBOARD).text);
    expect(own().filter((name) => !shown.has(name))).toEqual([]);
  });

  const missing = promtoolIsMissing();
  if (missing !== undefined) it.skip(`skipped: ${missing}`, () => undefined);
  else
    it('and their units and help are as Prometheus wants them', () => {
      // Names of prom-client's own are not ours to choose.
      const ours = exposition.split('\n').filter((line) => /^(# \w+ )?svc_/.test(line));
      expect(promtool(['check', 'metrics'], { input: `${ours.join('\n')}\n` })).toBe('');
    });
});
