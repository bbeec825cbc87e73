// A separate program with clients that send requests in turn, as fast as they get responses. Each client starts at another
// request. When told to stop, the program reports the number of responses by status.
import { once } from 'node:events';
import { Connection, requestBytes } from './connection.mjs';

const [{ origin, requests, clients }] = await once(process, 'message');
const prepared = requests.map((request) => requestBytes(origin, request));
const statuses = {};
let isStopped = false;
process.once('message', () => (isStopped = true));
process.once('disconnect', () => process.exit());
const work = Array.from({ length: clients }, (_, client) => sendAll(client));
process.send('started');
await Promise.all(work);
process.send(statuses);

async function sendAll(first) {
  const connection = new Connection(origin);
  for (let next = first; !isStopped; next += 1) {
    const { status } = await connection.send(prepared[next % prepared.length]);
    statuses[status] = (statuses[status] ?? 0) + 1;
  }
  connection.close();
}
