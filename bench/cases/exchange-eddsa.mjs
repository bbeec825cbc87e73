// Token exchange, EdDSA in and ES256 out: the service against the peer.
import { compareExchanges } from '../support/exchange-comparison.mjs';

const comparisons = [
  { title: 'throughput, service / peer', of: 'perSecond', over: 'service', under: 'peer', atLeast: 1.5 },
];

export const exchangeEddsa = {
  name: 'exchange-eddsa',
  title: 'Token exchange, EdDSA in and ES256 out, known users: on PostgreSQL, the peer in memory',

  async run(workbench) {
    const contestants = [await workbench.startService(), await workbench.startPeer()];
    return compareExchanges(workbench, contestants, { algorithm: 'EdDSA', comparisons });
  },
};
