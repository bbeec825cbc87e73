// Memory of the service after many exchanges, against a tenth of them.
import { setTimeout as delay } from 'node:timers/promises';
import { exchangeRequests } from '../support/exchanges.mjs';
import { residentBytes } from '../support/process-usage.mjs';
import { measure } from '../support/rounds.mjs';
import { median } from '../support/statistics.mjs';

/** Small enough that tokens live through their part. */
const PART = 10_000;
const READINGS = 11;
const READING_INTERVAL_MS = 500;
const MEBIBYTE = 2 ** 20;

export const memory = {
  name: 'memory',
  title: 'Resident memory of the service after many exchanges, ES256, known users, on PostgreSQL',

  async run(workbench) {
    const { exchanges } = workbench.options;
    const service = await workbench.startService();
    const load = exchangeRequests(service, workbench.partner, 'ES256');
    const contender = { name: 'service', servers: [service], load };
    const marks = [Math.ceil(exchanges / 10), exchanges];
    const rounds = [];
    const readings = [];
    let done = 0;
    for (const mark of marks) {
      for (; done < mark; done += rounds.at(-1).requests) {
        const result = await measure(workbench, contender, Math.min(PART, mark - done));
        rounds.push({ contender: 'service', round: rounds.length + 1, ...result });
        workbench.tell(`${done + result.requests} exchanges: ${Math.round(result.residentMiB)} MiB`);
      }
      readings.push({ exchanges: mark, ...(await readMemory(service)) });
    }
    const [early, late] = readings;
    const value = late.medianMiB / early.medianMiB;
    return {
      rounds,
      readings,
      ratios: [
        {
          title: `memory, after ${late.exchanges} exchanges / ${early.exchanges}`,
          values: [value],
          median: value,
          min: late.minMiB / early.maxMiB,
          max: late.maxMiB / early.minMiB,
          atMost: 1.1,
        },
      ],
      remarks: readings.map(
        (reading) =>
          `After ${reading.exchanges} exchanges: ${reading.medianMiB.toFixed(0)} MiB ` +
          `(${reading.minMiB.toFixed(0)} to ${reading.maxMiB.toFixed(0)} within five seconds of rest)`,
      ),
    };
  },
};

/** Memory goes up and down with each garbage collection, so it is read several times. */
async function readMemory({ server }) {
  const readings = [];
  for (let reading = 0; reading < READINGS; reading += 1) {
    await delay(READING_INTERVAL_MS);
    readings.push(residentBytes(server.processId) / MEBIBYTE);
  }
  return { medianMiB: median(readings), minMiB: Math.min(...readings), maxMiB: Math.max(...readings) };
}
