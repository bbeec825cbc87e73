// Natural batching: what arrives while the statements before it are in flight goes into the next one together.
import { Client } from 'pg';

/** Two or more make smaller batches: 1.4 times the database's CPU time a request, and no more throughput. */
const CONNECTIONS = 1;
const LARGEST_BATCH = 64;
/** PostgreSQL would plan anew for each batch, as its size may matter. CPU time with the database: 0.96 of that. */
const REUSE_PLANS = '-c plan_cache_mode=force_generic_plan';

export class Batches {
  waiting = [];

  constructor(clients, carryOut) {
    this.idle = clients;
    this.carryOut = carryOut;
  }

  /** @param carryOut takes a client and requests, and answers their results in the same order */
  static async connect(databaseUrl, carryOut) {
    const options = { connectionString: databaseUrl, options: REUSE_PLANS };
    const clients = Array.from({ length: CONNECTIONS }, () => new Client(options));
    await Promise.all(clients.map((client) => client.connect()));
    return new Batches(clients, carryOut);
  }

  add(request) {
    return new Promise((resolve, reject) => {
      this.waiting.push({ request, resolve, reject });
      this.goOn();
    });
  }

  goOn() {
    if (this.waiting.length === 0 || this.idle.length === 0) return;
    void this.run(this.idle.pop(), this.waiting.splice(0, LARGEST_BATCH));
  }

  async run(client, batch) {
    try {
      const results = await this.carryOut(
        client,
        batch.map(({ request }) => request),
      );
      batch.forEach(({ resolve }, index) => resolve(results[index]));
    } catch (error) {
      batch.forEach(({ reject }) => reject(error));
    } finally {
      this.idle.push(client);
      this.goOn();
    }
  }
}
