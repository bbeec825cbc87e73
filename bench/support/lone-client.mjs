// Sends one request after another on one connection.
import { Agent, request as ask } from 'node:http';

export class LoneClient {
  agent = new Agent({ keepAlive: true, maxSockets: 1 });

  constructor(origin) {
    this.origin = origin;
  }

  /** @returns the status, 0 for a connection that was closed without an answer */
  send({ method, path, headers, body }) {
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
    const { hostname, port } = new URL(this.origin);
    const options = { agent: this.agent, hostname, port, method, path, headers: { ...headers, ...length } };
    return new Promise((resolve) => {
      const request = ask(options, (answer) => {
        answer.on('end', () => resolve(answer.statusCode));
        answer.on('error', () => resolve(0));
        answer.resume();
      });
      request.on('error', () => resolve(0));
      request.end(body);
    });
  }

  close() {
    this.agent.destroy();
  }
}
