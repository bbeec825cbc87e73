// What sinks of the audit trail cost an exchange: the service with webhook and syslog against one without.
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../dist/demo/free-port.js';
import { checkExchange, writtenRows } from '../support/checks.mjs';
import { exchangeRequests } from '../support/exchanges.mjs';
import { alternate } from '../support/rounds.mjs';
import { cpuMicros, ratio } from '../support/statistics.mjs';

const ARRIVAL_MS = 60_000;
const LOOK_AGAIN_MS = 100;

export const auditStreaming = {
  name: 'audit-streaming',
  title:
    'Token exchange, ES256, known users, on PostgreSQL: with webhook and syslog as sinks of the audit trail, and without',

  async run(workbench) {
    const receivers = await startReceivers(workbench);
    const plain = await workbench.startService({ name: 'plain' });
    const streaming = await workbench.startService({
      name: 'streaming',
      moreEnvironment: {
        SVC_AUDIT_SINKS_START: 'beginning',
        SVC_AUDIT_WEBHOOK_URL: receivers.webhookUrl,
        SVC_AUDIT_WEBHOOK_SECRET: 'a secret of thirty-two characters',
        SVC_AUDIT_WEBHOOK_ALLOW_HTTP: 'true',
        SVC_AUDIT_SYSLOG_URL: receivers.syslogUrl,
      },
    });
    const contestants = [streaming, plain];
    for (const contestant of contestants) await checkExchange(contestant, workbench.partner, 'ES256');
    const contenders = contestants.map((contestant) => ({
      name: contestant.name,
      servers: [contestant],
      load: exchangeRequests(contestant, workbench.partner, 'ES256'),
    }));
    const { rounds } = await alternate(workbench, contenders);
    await untilArrived(workbench, streaming, receivers);
    const names = { over: 'streaming', under: 'plain' };
    return {
      rounds,
      ratios: [
        ratio(rounds, { title: 'throughput, streaming / plain', of: 'perSecond', ...names, atLeast: 0.95 }),
        ratio(rounds, {
          title: 'CPU with database, plain / streaming',
          of: cpuMicros,
          over: 'plain',
          under: 'streaming',
          atLeast: 0.95,
        }),
      ],
    };
  },
};

/** A process of its own, whose CPU time counts for nobody. */
async function startReceivers(workbench) {
  const syslogPort = await freePort();
  const { origin } = await workbench.startProgram('receivers', { syslogPort }, '/');
  return { origin, webhookUrl: `${origin}/audit`, syslogUrl: `tcp://127.0.0.1:${syslogPort}` };
}

/** What was measured was done: both sinks get every row. */
async function untilArrived(workbench, contestant, { origin }) {
  const { successes, failures } = await writtenRows(workbench, contestant);
  const deadline = Date.now() + ARRIVAL_MS;
  let counts;
  do {
    await delay(LOOK_AGAIN_MS);
    counts = await (await fetch(origin)).json();
  } while (Math.min(counts.webhook, counts.syslog) < successes + failures && Date.now() < deadline);
  assert.ok(counts.webhook >= successes + failures, 'the webhook has not got every event');
  assert.ok(counts.syslog >= successes + failures, 'the syslog server has not got every event');
}
