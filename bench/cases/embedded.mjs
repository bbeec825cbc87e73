// The service on the embedded database against the service on PostgreSQL.
import { compareExchanges } from '../support/exchange-comparison.mjs';

const comparisons = [
  {
    title: 'throughput, embedded / PostgreSQL',
    of: 'perSecond',
    over: 'embedded',
    under: 'postgresql',
    atLeast: 0.8,
  },
];

export const embedded = {
  name: 'embedded',
  title: 'Token exchange on the embedded database and on PostgreSQL, ES256, known users',

  async run(workbench) {
    const contestants = [
      await workbench.startService({ name: 'embedded', database: 'embedded' }),
      await workbench.startService({ name: 'postgresql' }),
    ];
    return compareExchanges(workbench, contestants, { algorithm: 'ES256', comparisons });
  },
};
