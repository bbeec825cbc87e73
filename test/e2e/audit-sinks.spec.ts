// The sinks of the audit trail in the running service: the events they receive, their metrics, and the secrets that the log must not contain.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { Partner } from '../../demo/partner.js';
import { faultsOf } from '../support/audit-events.js';
import { WebhookReceiver } from '../support/audit-receivers.js';
import { describeBuilt } from '../support/built-service.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { MetricSamples } from '../support/metric-samples.js';
import { REPOSITORY } from '../support/source-files.js';
import { TestService } from '../support/test-service.js';
import { until } from '../support/until.js';

const SECRET = 'a secret of thirty-two characters';
/** An open transaction of another test on the same server holds the stream back. */
const PATIENCE_MS = 90_000;

const built = (path: string) => JSON.stringify(pathToFileURL(join(REPOSITORY, 'dist/src', path)).href);
const WITH_SINK = `
  const { StandardOutput, createLogger } = await import(${built('platform/log/logger.js')});
  const { StandardOutputSink } = await import(${built('audit/sinks/standard-output.sink.js')});
  setInterval(() => undefined, 1000);
  const output = new StandardOutput();
  const log = createLogger('info', output);
  const sink = new StandardOutputSink(output);
  const json = JSON.stringify({ id: '1', filler: 'y'.repeat(2000) });
  const deliver = () => sink.deliver([{ json }], new AbortController().signal);
  const say = (text) => process.stderr.write(text);`;
/** Delivers an event while the log fills an output that has no reader. */
const CROWDED = `${WITH_SINK}
  const handedOver = deliver();
  const filler = 'x'.repeat(1000);
  for (let number = 0; number < 20_000; number += 1) log.info({ filler }, 'a line');
  say('written, ');
  await handedOver.then(() => say('taken'), ({ message }) => say(message));
  log.flush(() => process.exit());`;
/** Hands events over to a reader that ends after the first. */
const LEFT = `${WITH_SINK}
  await deliver();
  say('taken, ');
  process.stdin.once('end', async () => {
    for (let event = 0; event < 2; event += 1) await deliver().then(() => say('taken'), ({ message }) => say(message + '; '));
    process.exit();
  }).resume();`;

describeOnEachDatabase('the sinks of the audit trail', (database) => {
  const partner = Partner.create({ issuer: 'https://partner.example' });
  let webhook: WebhookReceiver;
  const service = TestService.forBlock(database, async () => {
    webhook = await WebhookReceiver.listen(SECRET);
    return {
      trustedKeys: [partner.staticEntry()],
      environment: {
        SVC_AUDIT_WEBHOOK_URL: `${webhook.url}?key=marker-5150`,
        SVC_AUDIT_WEBHOOK_SECRET: SECRET,
        SVC_AUDIT_WEBHOOK_HEADERS: 'authorization: Splunk marker-5150',
        SVC_AUDIT_WEBHOOK_ALLOW_HTTP: 'true',
        SVC_AUDIT_STDOUT: 'true',
      },
    };
  });
  afterAll(() => webhook.die());

  const trail = () =>
    service.rows<{ id: string; event: string; subjectUserId: string | null; payload: object }>(
      `SELECT id, name AS event, subject_user_id AS "subjectUserId", payload FROM audit_event ORDER BY transaction_id, id`,
    );
  const told = () => service.log.filter(({ type }) => type === 'audit-event');

  it('[D87] get what the requests have left in it', async () => {
    // A new sink begins with what happens once it has a cursor.
    const cursors = () => service.rows('SELECT FROM audit_sink_cursor');
    await until('both have one', PATIENCE_MS, async () => (await cursors()).length === 2);
    await service.exchange({ subject_token: partner.sign() });
    await service.exchange({ subject_token: 'no token' });
    await service.embed({ token: partner.sign() });
    const events = await trail();
    await until('they have it', PATIENCE_MS, () => webhook.arrived.length >= events.length);
    await until('it is written', PATIENCE_MS, () => told().length >= events.length);
    expect(webhook.arrived).toEqual(events.map((event) => expect.objectContaining(event)));
    expect(webhook.arrived.flatMap((event) => faultsOf(event))).toEqual([]);
    expect(told()).toEqual(events.map((event) => expect.objectContaining(event)));
  });

  it('[D87] metrics say how far each is', async () => {
    const { length } = await trail();
    for (const sink of ['webhook', 'stdout'])
      await until(`all events are counted that ${sink} has`, PATIENCE_MS, async () => {
        const samples = await MetricSamples.read(service);
        expect(samples.value('svc_audit_sink_failures_total', { sink })).toBe(0);
        return samples.value('svc_audit_sink_events_total', { sink }) === length;
      });
    const lags = [
      'svc_audit_sink_lag_events',
      'svc_audit_sink_lag_seconds',
      'svc_audit_sink_blocked_seconds',
    ];
    await until('the backlog was looked at', PATIENCE_MS, async () => {
      const now = await MetricSamples.read(service);
      return lags.every((name) => now.named(name, { sink: 'webhook' }).length === 1 && now.value(name) < 1);
    });
  });

  it('a receiver that fails costs no login, is reported once, and gets what it missed', async () => {
    webhook.answerWith((response) => setTimeout(() => response.writeHead(500).end(), 300));
    for (let exchange = 0; exchange < 20; exchange++)
      expect((await service.exchange({ subject_token: partner.sign() })).status).toBe(200);
    const failures = async () =>
      (await MetricSamples.read(service)).value('svc_audit_sink_failures_total', { sink: 'webhook' });
    await until('it was tried twice', PATIENCE_MS, async () => (await failures()) >= 2);
    webhook.answerWith(undefined);
    const { length } = await trail();
    await until('it has them', PATIENCE_MS, () => webhook.firstArrivals.length === length);
    const warnings = service.log.filter(({ sink, level }) => sink === 'webhook' && level === 'warn');
    expect(warnings.map(({ reason }) => reason)).toEqual(['status 500']);
  });

  it('neither secret nor address is in the log', () => {
    expect(webhook.lastHeaders.authorization).toBe('Splunk marker-5150');
    expect(service.logText).toContain('audit-event');
    expect(service.logText).not.toContain(SECRET);
    expect(service.logText).not.toContain('marker-5150');
  });
});

describeBuilt('audit events on standard output', () => {
  it('that find no room there any more are not taken for delivered', async () => {
    const writer = spawn(process.execPath, ['--input-type=module', '--eval', CROWDED]);
    const told = text(writer.stderr);
    await once(writer.stderr, 'data');
    expect(await text(writer.stdout)).not.toContain('audit-event');
    expect(await told).toMatch(/^written, standard output is full/);
  });

  it('whose reader has ended are not taken for delivered either', async () => {
    const writer = spawn(process.execPath, ['--input-type=module', '--eval', LEFT]);
    const told = text(writer.stderr);
    await once(writer.stdout, 'data');
    writer.stdout.destroy();
    writer.stdin.end();
    expect(await told).toBe(`taken, ${'standard output is closed: its reader has ended; '.repeat(2)}`);
  });
});
