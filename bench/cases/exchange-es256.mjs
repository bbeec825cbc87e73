// Token exchange, ES256 in and out: the service against the floor and the peer.
import { checkExchange } from '../support/checks.mjs';
import { exchangeRequests } from '../support/exchanges.mjs';
import { cpuMicros, ratio } from '../support/ratios.mjs';
import { alternate } from '../support/rounds.mjs';

export const exchangeEs256 = {
  name: 'exchange-es256',
  title: 'Token exchange, ES256 in and out, known users, on PostgreSQL; the peer in memory',

  async run(workbench) {
    const contestants = [
      await workbench.startService(),
      await workbench.startFloor(),
      await workbench.startPeer(),
    ];
    for (const contestant of contestants) await checkExchange(contestant, workbench.partner, 'ES256');
    const rounds = await alternate(
      workbench,
      contestants.map((contestant) => ({
        name: contestant.name,
        servers: [contestant],
        load: exchangeRequests(contestant, workbench.partner, 'ES256'),
      })),
    );
    return { rounds, ratios: comparisons.map((comparison) => ratio(rounds, comparison)) };
  },
};

const comparisons = [
  { title: 'throughput, service / floor', of: 'perSecond', over: 'service', under: 'floor', atLeast: 0.85 },
  { title: 'throughput, service / peer', of: 'perSecond', over: 'service', under: 'peer', atLeast: 1.5 },
  {
    title: 'throughput, floor / peer (is the floor a good one?)',
    of: 'perSecond',
    over: 'floor',
    under: 'peer',
    atLeast: 1.8,
  },
  { title: 'CPU with database, service / floor', of: cpuMicros, over: 'service', under: 'floor' },
];
