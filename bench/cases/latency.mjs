// Latency at one fixed rate, half of what the service can do: the service against the floor.
import { exchangeRequests } from '../support/exchanges.mjs';
import { alternate, warmUp } from '../support/rounds.mjs';
import { ratio } from '../support/statistics.mjs';

const names = { over: 'service', under: 'floor' };

export const latency = {
  name: 'latency',
  title: 'Latency of token exchanges at half of the service’s peak, ES256, known users, on PostgreSQL',

  async run(workbench) {
    const contestants = [await workbench.startService(), await workbench.startFloor()];
    const contenders = contestants.map((contestant) => ({
      name: contestant.name,
      servers: [contestant],
      load: exchangeRequests(contestant, workbench.partner, 'ES256'),
    }));
    const peakPerSecond = await warmUp(workbench, contenders[0]);
    await warmUp(workbench, contenders[1]);
    const perSecond = Math.round(peakPerSecond / 2);
    const paced = contenders.map((contender) => ({ ...contender, load: { ...contender.load, perSecond } }));
    const { rounds } = await alternate(workbench, paced);
    const ratios = [ratio(rounds, { title: 'p99, service / floor', of: 'p99Ms', ...names, atMost: 1.5 })];
    const remarks = [
      `The service's peak was ${Math.round(peakPerSecond)} a second; both were sent ${perSecond} a second.`,
    ];
    return { rounds, ratios, remarks };
  },
};
