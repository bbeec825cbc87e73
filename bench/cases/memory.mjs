// Compares the service's memory after many exchanges with its memory after a tenth of them.
import { setTimeout as delay } from 'node:timers/promises';
import { exchangesOf } from '../support/comparison.mjs';
import { residentBytes } from '../support/process-usage.mjs';
import { measure } from '../support/rounds.mjs';
import { spread } from '../support/statistics.mjs';

const EXCHANGES = 1_000_000;
/** The exchanges of one measurement: few enough that no token expires before it is sent. */
const PART = 10_000;
const READINGS = 11;
const READING_INTERVAL_MS = 500;
const MEBIBYTE = 2 ** 20;

export const memory = {
  name: 'memory',
  title: 'Resident memory of the service after many exchanges, ES256, known users, on PostgreSQL',

  async run(workbench) {
    const { requests: exchanges = EXCHANGES } = workbench.options;
    const service = await workbench.startService();
    const contender = exchangesOf(workbench, service);
    const rounds = [];
    const readings = [];
    let done = 0;
    for (const mark of [Math.ceil(exchanges / 10), exchanges]) {
      for (; done < mark; done += rounds.at(-1).requests) {
        const result = await measure(workbench, contender, Math.min(PART, mark - done));
        rounds.push({ contender: 'service', round: rounds.length + 1, ...result });
        workbench.tell(`${done + result.requests} exchanges: ${Math.round(result.residentMiB)} MiB`);
      }
      readings.push({ exchanges: mark, ...(await readMemory(service)) });
    }
    const [early, late] = readings;
    const value = late.median / early.median;
    return {
      rounds,
      readings,
      ratios: [
        {
          title: `memory, after ${late.exchanges} exchanges / ${early.exchanges}`,
          values: [value],
          median: value,
          min: late.min / early.max,
          max: late.max / early.min,
          atMost: 1.1,
        },
      ],
      remarks: readings.map(({ exchanges: after, ...mebibytes }) => {
        const [middle, min, max] = ['median', 'min', 'max'].map((name) => mebibytes[name].toFixed(0));
        return `After ${after} exchanges: ${middle} MiB (${min} to ${max} within five seconds of rest)`;
      }),
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
  return spread(readings);
}
