// Time from the start of the service's process to its first answers, on each database, cold and warm.
import { spread } from '../support/statistics.mjs';
import { timeStarts } from '../support/service-starts.mjs';
import { table } from '../support/table.mjs';

const LONGEST_WARM_START_SECONDS = 1.2;
const HEADINGS = ['start, ms', 'starts', 'first answer', 'spread', 'ready', 'spread', 'CPU', 'spread'];

export const start = {
  name: 'start',
  title:
    'From the start of the process to the first answer (/healthz), and to the first that says it is ready',

  async run(workbench) {
    const starts = await timeStarts(workbench);
    const warm = starts['warm PostgreSQL'];
    const ratios = [
      seconds('warm PostgreSQL: seconds to the first answer', warm, 'healthzMs'),
      seconds('warm PostgreSQL: seconds until ready', warm, 'readinessMs'),
    ];
    return { starts, ratios, remarks: [table([HEADINGS, ...Object.entries(starts).map(rowOf)])] };
  },
};

function seconds(title, times, name) {
  const values = times.map((time) => time[name] / 1000);
  return { title, values, ...spread(values), atMost: LONGEST_WARM_START_SECONDS };
}

function rowOf([situation, times]) {
  const cells = ['healthzMs', 'readinessMs', 'cpuMs'].flatMap((name) => {
    const { median, min, max } = spread(times.map((time) => time[name]));
    return [median.toFixed(0), `${min.toFixed(0)} to ${max.toFixed(0)}`];
  });
  return [situation, String(times.length), ...cells];
}
