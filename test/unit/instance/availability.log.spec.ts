// Log lines about disabled features and the licence's end: at the start, daily, and on changes.
import { License } from '../../../src/config/license.js';
import { readConfig } from '../../../src/config/load-config.js';
import { AvailabilityReporter } from '../../../src/instance/availability.js';
import { createLogger } from '../../../src/platform/log/logger.js';
import { TestClock } from '../../support/test-clock.js';

const DAY = 86_400;
const START_MS = Date.UTC(2026, 0, 1);
const ENDPOINTS = [
  '/rest/auth/oauth/token',
  '/rest/auth/embed',
  '/rest/auth/backchannel-logout',
  '/rest/auth/events',
  '/rest/auth/oauth/revoke',
  '/rest/auth/oauth/introspect',
  '/rest/auth/explain',
];

interface Line {
  readonly level: string;
  readonly msg: string;
}

/** A reporter on a stopped clock, and its log lines. */
class Report {
  readonly clock = new TestClock(START_MS);
  readonly lines: Line[] = [];
  readonly reporter: AvailabilityReporter;

  constructor(daysLeft: number | undefined, environment: Record<string, string> = {}) {
    const end = new Date(START_MS + (daysLeft ?? 0) * DAY * 1000);
    const license = daysLeft === undefined ? License.NONE : new License(new Set(['token-exchange']), end);
    const switches = { SVC_EMBED_LOGIN_ENABLED: 'true', SVC_ENV_FEAT_TOKEN_EXCHANGE: 'true' };
    const { config, given } = readConfig([{ ...switches, ...environment }]);
    const log = createLogger('info', { write: (line) => this.lines.push(JSON.parse(line) as Line) });
    this.reporter = new AvailabilityReporter({ config, given, license }, this.clock, log);
    this.reporter.onApplicationBootstrap();
  }

  /** Time passes, and the reporter looks. */
  pass(seconds: number): void {
    this.clock.advance(seconds);
    jest.advanceTimersByTime(1_000);
  }

  /** What was written since the last time: level and the beginning of the message. */
  get told(): string[] {
    return this.lines.splice(0).map(({ level, msg }) => `${level}: ${msg}`);
  }
}

describe('the startup log', () => {
  const reports: Report[] = [];
  const report = (...parts: ConstructorParameters<typeof Report>) => {
    const made = new Report(...parts);
    reports.push(made);
    return made;
  };

  beforeEach(() => jest.useFakeTimers({ doNotFake: ['performance', 'Date', 'nextTick', 'setImmediate'] }));
  afterEach(() => {
    for (const { reporter } of reports.splice(0)) reporter.beforeApplicationShutdown();
    jest.useRealTimers();
  });

  const OFF = 'token exchange is off, and its endpoints answer 404: ';
  const CALLS = '; calls of the API that need a licensed feature answer 403';

  it.each<[string, number | undefined, Record<string, string>, string]>([
    [
      'no flag',
      400,
      { SVC_ENV_FEAT_TOKEN_EXCHANGE: '' },
      `info: ${OFF}SVC_ENV_FEAT_TOKEN_EXCHANGE is not set`,
    ],
    [
      'a flag that is not true',
      400,
      { SVC_ENV_FEAT_TOKEN_EXCHANGE: 'True' },
      `warn: ${OFF}SVC_ENV_FEAT_TOKEN_EXCHANGE is set, but`,
    ],
    ['no licence', undefined, {}, `warn: ${OFF}there is no licence`],
    [
      'a licence that has ended',
      -1,
      {},
      `error: ${OFF}the licence has ended: 2025-12-31T00:00:00.000Z${CALLS}`,
    ],
    [
      'both switches off',
      400,
      { SVC_EMBED_LOGIN_ENABLED: 'false' },
      'warn: token exchange is on, but its endpoints answer 501: none of SVC_EMBED_LOGIN_ENABLED, SVC_TOKEN_EXCHANGE_ENABLED and SVC_ID_ASSERTION_ENABLED is true',
    ],
  ])('reports %s in one line once', (_, daysLeft, environment, text) => {
    const made = report(daysLeft, environment);
    expect(made.lines).toEqual([expect.objectContaining({ endpoints: ENDPOINTS })]);
    expect(made.told).toEqual([expect.stringContaining(text)]);
    made.pass(1);
    made.pass(2 * DAY);
    expect(made.told).toEqual([]);
  });

  it('warns of the end of a licence from 30 days before it, at startup and daily', () => {
    const warning = (days: number) =>
      `warn: the licence ends within ${days === 1 ? '1 day' : `${days} days`}: 2026-01-31T00:00:00.000Z; then token exchange is off, and calls`;
    const made = report(30);
    expect(made.told).toEqual([expect.stringContaining(warning(30))]);
    made.pass(DAY - 1);
    expect(made.told).toEqual([]);
    made.pass(1);
    expect(made.told).toEqual([expect.stringContaining(warning(29))]);
    made.pass(28 * DAY);
    expect(made.told).toEqual([expect.stringContaining(warning(1))]);
  });

  it('reports the end itself once, with the endpoints that it disables', () => {
    const made = report(31);
    made.pass(31 * DAY - 1);
    expect(made.told).toEqual([expect.stringContaining('warn: the licence ends within 1 day')]);
    expect(made.reporter.state).toEqual({ available: true, embedLogin: true, exchange: false });
    made.pass(1);
    expect(made.lines).toEqual([expect.objectContaining({ reason: 'license_ended', endpoints: ENDPOINTS })]);
    expect(made.told).toEqual([`error: ${OFF}the licence has ended: 2026-02-01T00:00:00.000Z${CALLS}`]);
    expect(made.reporter.state).toEqual({ available: false, reason: 'license_ended' });
    made.pass(100 * DAY);
    expect(made.told).toEqual([]);
  });

  it('reports the end of a licence even if the flag is off', () => {
    const made = report(1, { SVC_ENV_FEAT_TOKEN_EXCHANGE: 'false' });
    expect(made.told).toEqual([
      expect.stringContaining(`info: ${OFF}`),
      'warn: the licence ends within 1 day: 2026-01-02T00:00:00.000Z; then calls of the API that need a licensed feature answer 403',
    ]);
    made.pass(DAY);
    expect(made.told).toEqual([`error: the licence has ended: 2026-01-02T00:00:00.000Z${CALLS}`]);
    expect(made.reporter.state).toEqual({ available: false, reason: 'not_enabled' });
  });

  it('handles clock changes: no warning is repeated, and each end is reported', () => {
    const made = report(4);
    expect(made.told).toHaveLength(1);
    made.clock.setBack(DAY);
    made.pass(1);
    made.clock.setBack(-2 * DAY);
    made.pass(1);
    expect(made.told).toEqual([]);
    made.clock.setBack(DAY);
    made.pass(DAY);
    expect(made.told).toEqual([expect.stringContaining('warn: the licence ends within ')]);
    made.clock.setBack(-3 * DAY);
    made.pass(1);
    expect(made.told).toEqual([expect.stringContaining('error: ')]);
    made.clock.setBack(3 * DAY);
    made.pass(1);
    expect(made.told).toEqual([]);
    expect(made.reporter.state).toEqual({ available: true, embedLogin: true, exchange: false });
    made.clock.setBack(-3 * DAY);
    made.pass(1);
    expect(made.told).toEqual([expect.stringContaining('error: ')]);
  });

  it('stays off if a wrong clock ended the licence at startup', () => {
    const made = report(-1);
    expect(made.told).toHaveLength(1);
    made.clock.setBack(20 * DAY);
    made.pass(1);
    expect(made.told).toEqual([expect.stringContaining('warn: the licence ends within')]);
    expect(made.reporter.state).toEqual({ available: false, reason: 'license_ended' });
  });

  it('ends with the service', () => {
    const made = report(31);
    made.reporter.beforeApplicationShutdown();
    expect(jest.getTimerCount()).toBe(0);
    made.pass(40 * DAY);
    expect(made.told).toEqual([]);
  });
});
