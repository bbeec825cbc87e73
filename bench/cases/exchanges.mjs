// Token exchange, signed by each family of keys in and ES256 out: the service against the peer, and once the floor.
import { compareExchanges } from '../support/exchange-comparison.mjs';
import { cpuMicros } from '../support/ratios.mjs';

const overPeer = {
  title: 'throughput, service / peer',
  of: 'perSecond',
  over: 'service',
  under: 'peer',
  atLeast: 1.5,
};

export const exchangeEs256 = {
  name: 'exchange-es256',
  title: 'Token exchange, ES256 in and out, known users: on PostgreSQL, the peer in memory',

  async run(workbench) {
    const contestants = [
      await workbench.startService(),
      await workbench.startFloor(),
      await workbench.startPeer(),
    ];
    const comparisons = [
      {
        title: 'throughput, service / floor',
        of: 'perSecond',
        over: 'service',
        under: 'floor',
        atLeast: 0.85,
      },
      overPeer,
      { title: 'throughput, floor / peer', of: 'perSecond', over: 'floor', under: 'peer', atLeast: 1.8 },
      { title: 'CPU with database, service / floor', of: cpuMicros, over: 'service', under: 'floor' },
    ];
    return compareExchanges(workbench, contestants, { algorithm: 'ES256', comparisons });
  },
};

export const exchangeRs256 = againstThePeer('RS256');
export const exchangeEddsa = againstThePeer('EdDSA');

function againstThePeer(algorithm) {
  return {
    name: `exchange-${algorithm.toLowerCase()}`,
    title: `Token exchange, ${algorithm} in and ES256 out, known users: on PostgreSQL, the peer in memory`,

    async run(workbench) {
      const contestants = [await workbench.startService(), await workbench.startPeer()];
      return compareExchanges(workbench, contestants, { algorithm, comparisons: [overPeer] });
    },
  };
}
