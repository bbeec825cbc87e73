// A token endpoint that answers as the service never does: in place of a proxy, or of something else behind the address.
import { once } from 'node:events';
import type { RequestListener, Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export class OddEndpoint {
  /** How many requests have come. */
  requests = 0;
  private listener: RequestListener = (_, response) => response.end();

  private constructor(private readonly server: Server) {}

  static async open(): Promise<OddEndpoint> {
    const server = createServer();
    const endpoint = new OddEndpoint(server);
    server.on('request', (request, response) => {
      endpoint.requests += 1;
      request.resume();
      endpoint.listener(request, response);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return endpoint;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** From now on, and with no request counted yet. */
  answer(listener: RequestListener): void {
    this.requests = 0;
    this.listener = listener;
  }

  async close(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, 'close');
  }
}
