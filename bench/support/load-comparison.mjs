// Compares two loads of one service: what the one takes beside the other.
import { cpuMicros, ratio } from './ratios.mjs';
import { alternate } from './rounds.mjs';

/** @param over, under name and load of a contender, with the servers of its own where it has more than `service` */
export async function compareLoads(workbench, service, { over, under }) {
  const contenders = [over, under].map((contender) => ({ servers: [service], ...contender }));
  const { rounds } = await alternate(workbench, contenders);
  const names = { over: over.name, under: under.name };
  const both = `${over.name} / ${under.name}`;
  const ratios = [
    ratio(rounds, { title: `throughput, ${both}`, of: 'perSecond', ...names }),
    ratio(rounds, { title: `CPU with database, ${both}`, of: cpuMicros, ...names }),
  ];
  return { rounds, ratios };
}
