// A name server for which every name has the same addresses, as Docker's has for the containers of a service.
import type { Socket } from 'node:dgram';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** RFC 1035 §4.1.1: bytes of a header, and the type of an address. */
const HEADER_BYTES = 12;
const TYPE_A = 1;
/** A response, whose recursion is available. */
const ANSWERED = 0x8180;
/** §4.1.3: the name of the question, type A, class IN, one second, four bytes. */
const RECORD = Buffer.from([0xc0, HEADER_BYTES, 0, TYPE_A, 0, 1, 0, 0, 0, 1, 0, 4]);

export class NameServer {
  private constructor(
    private readonly socket: Socket,
    private readonly hosts: Set<string>,
  ) {}

  /** @param hosts IPv4 addresses */
  static async listen(hosts: readonly string[]): Promise<NameServer> {
    const socket = createSocket('udp4');
    const known = new Set(hosts);
    socket.on('message', (question, { port, address }) =>
      socket.send(answerTo(question, [...known]), port, address),
    );
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return new NameServer(socket, known);
  }

  /** `host:port`. */
  get address(): string {
    return `127.0.0.1:${this.socket.address().port}`;
  }

  forget(host: string): void {
    this.hosts.delete(host);
  }

  close(): void {
    this.socket.close();
  }
}

function answerTo(question: Buffer, hosts: readonly string[]): Buffer {
  // Behind the name, which ends with an empty label, stand its type and class.
  const end = question.indexOf(0, HEADER_BYTES) + 5;
  const addresses = question.readUInt16BE(end - 4) === TYPE_A ? hosts : [];
  const header = Buffer.from(question.subarray(0, HEADER_BYTES));
  header.writeUInt16BE(ANSWERED, 2);
  header.writeUInt16BE(addresses.length, 6);
  header.fill(0, 8);
  const records = addresses.map((host) => Buffer.concat([RECORD, Buffer.from(host.split('.').map(Number))]));
  return Buffer.concat([header, question.subarray(HEADER_BYTES, end), ...records]);
}
