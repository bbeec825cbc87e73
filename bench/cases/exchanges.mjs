// Token exchanges: the service against the floor and cryptography alone, against the peer for the other families of
// keys, and on each database.
import { PEERS } from '../peers/index.mjs';
import { compareExchanges, cpu, overPeer, throughput } from '../support/comparison.mjs';
import { startCryptography } from '../support/cryptography.mjs';

const [inMemory] = PEERS;

export const exchangeEs256 = {
  name: 'exchange-es256',
  title:
    'Token exchange, ES256 in and out, known users, on PostgreSQL: against the floor and cryptography alone',

  async run(workbench) {
    const contestants = [await workbench.startService(), await workbench.startFloor()];
    const comparisons = [
      throughput('service', 'floor'),
      cpu('service', 'floor', 1.25),
      cpu('service', 'cryptography', 3.2),
      cpu('floor', 'cryptography'),
    ];
    const others = [await startCryptography(workbench)];
    return compareExchanges(workbench, contestants, 'ES256', comparisons, others);
  },
};

export const exchangeRs256 = againstThePeer('RS256');
export const exchangeEddsa = againstThePeer('EdDSA');

export const embedded = {
  name: 'embedded',
  title: 'Token exchange on the embedded database and on PostgreSQL, ES256, known users',

  async run(workbench) {
    const contestants = [
      await workbench.startService({ name: 'embedded', database: 'embedded' }),
      await workbench.startService({ name: 'postgresql' }),
    ];
    const comparison = {
      ...throughput('embedded', 'postgresql', 0.8),
      title: 'throughput, embedded / PostgreSQL',
    };
    return compareExchanges(workbench, contestants, 'ES256', [comparison]);
  },
};

function againstThePeer(algorithm) {
  return {
    name: `exchange-${algorithm.toLowerCase()}`,
    title: `Token exchange, ${algorithm} in and ES256 out, known users: on PostgreSQL, oidc-provider in memory`,

    async run(workbench) {
      const contestants = [await workbench.startService(), await inMemory.start(workbench)];
      return compareExchanges(workbench, contestants, algorithm, overPeer(inMemory));
    },
  };
}
