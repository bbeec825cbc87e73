// Token exchange, ES256 in and out: the service against the floor and the peer.
import { compareExchanges } from '../support/exchange-comparison.mjs';
import { cpuMicros } from '../support/ratios.mjs';

const comparisons = [
  { title: 'throughput, service / floor', of: 'perSecond', over: 'service', under: 'floor', atLeast: 0.85 },
  { title: 'throughput, service / peer', of: 'perSecond', over: 'service', under: 'peer', atLeast: 1.5 },
  { title: 'throughput, floor / peer', of: 'perSecond', over: 'floor', under: 'peer', atLeast: 1.8 },
  { title: 'CPU with database, service / floor', of: cpuMicros, over: 'service', under: 'floor' },
];

export const exchangeEs256 = {
  name: 'exchange-es256',
  title: 'Token exchange, ES256 in and out, known users: on PostgreSQL, the peer in memory',

  async run(workbench) {
    const contestants = [
      await workbench.startService(),
      await workbench.startFloor(),
      await workbench.startPeer(),
    ];
    return compareExchanges(workbench, contestants, { algorithm: 'ES256', comparisons });
  },
};
