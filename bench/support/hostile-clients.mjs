// Clients that send hostile requests as fast as they get answers, in a process of their own: beside the measurement.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const PROGRAM = join(import.meta.dirname, 'hostile-clients.program.mjs');

export class HostileClients {
  constructor(child) {
    this.child = child;
  }

  /** @param requests sent in turn by each of so many clients, each of which begins at another */
  static async start(origin, requests, clients) {
    const child = fork(PROGRAM);
    child.send({ origin, requests, clients });
    await once(child, 'message');
    return new HostileClients(child);
  }

  /** @returns how many answers of each status there were */
  async stop() {
    const told = once(this.child, 'message');
    this.child.send('stop');
    const [statuses] = await told;
    this.child.disconnect();
    return statuses;
  }
}
