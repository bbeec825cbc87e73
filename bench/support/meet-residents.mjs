// Lets a server meet its users: each of them logs in once.
import { exchangeRequests } from './exchanges.mjs';
import { applyLoad } from './load.mjs';
import { RESIDENTS } from './residents.mjs';

const CONNECTIONS = 4;

export async function meetResidents(contestant, partner) {
  const { requests, ...kind } = exchangeRequests(contestant, partner, 'ES256', {
    claimSets: () => RESIDENTS,
  });
  await applyLoad({
    ...kind,
    origins: [contestant.server.origin],
    requests: await requests(RESIDENTS.length),
    connections: CONNECTIONS,
    whenDone: () => undefined,
  });
}
