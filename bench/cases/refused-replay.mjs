// Used tokens: each round of accepted tokens is sent once more.
import { exchangeRequests } from '../support/exchanges.mjs';
import { cpuMicros, ratio } from '../support/ratios.mjs';
import { alternate } from '../support/rounds.mjs';

const names = { over: 'used before', under: 'accepted' };
/** The tokens must live through both rounds, so that nothing but their use is against them. */
const LIFETIME_SECONDS = 300;

export const refusedReplay = {
  name: 'refused-replay',
  title: 'Tokens that were used before against accepted ones, ES256, on PostgreSQL',

  async run(workbench) {
    const service = await workbench.startService();
    const servers = [service];
    const fresh = exchangeRequests(service, workbench.partner, 'ES256', {
      lifetimeSeconds: LIFETIME_SECONDS,
    });
    const sent = new SentRequests(fresh);
    const { rounds } = await alternate(workbench, [
      { name: names.under, servers, load: { ...fresh, requests: (count) => sent.next(count) } },
      {
        name: names.over,
        servers,
        load: { ...fresh, requests: (count) => sent.again(count), expectedStatus: 400 },
      },
    ]);
    const ratios = [
      ratio(rounds, { title: 'CPU with database, used before / accepted', of: cpuMicros, ...names }),
    ];
    return { rounds, ratios };
  },
};

/** Keeps the requests of the latest accepted round. */
class SentRequests {
  latest = [];

  constructor(fresh) {
    this.fresh = fresh;
  }

  async next(count) {
    this.latest = await this.fresh.requests(count);
    return this.latest;
  }

  /** The same ones, from the first on again where more are asked for than were sent. */
  async again(count) {
    return Array.from({ length: count }, (_, index) => this.latest[index % this.latest.length]);
  }
}
