// The process of hostile-clients.mjs: sends requests until it is told to stop, and then tells what was answered.
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
    const { status } = await client.send(requests[next % requests.length]);
    statuses[status] = (statuses[status] ?? 0) + 1;
  }
  client.close();
}
