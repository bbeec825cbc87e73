// A program of its own, beside the measurement: clients that send requests in turn as fast as they get answers, each
// beginning at another, until it is told to stop. Then it tells how many answers of each status there were.
import { once } from 'node:events';
import { LoneClient } from './lone-client.mjs';

const [{ origin, requests, clients }] = await once(process, 'message');
const statuses = {};
let isStopped = false;
process.once('message', () => (isStopped = true));
process.once('disconnect', () => process.exit());
const work = Array.from({ length: clients }, (_, client) => sendAll(client));
process.send('started');
await Promise.all(work);
process.send(statuses);

async function sendAll(first) {
  const client = new LoneClient(origin);
  for (let next = first; !isStopped; next += 1) {
    const status = await client.send(requests[next % requests.length]);
    statuses[status] = (statuses[status] ?? 0) + 1;
  }
  client.close();
}
