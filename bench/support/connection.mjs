// An HTTP/1.1 client for one connection, with node:net. It is minimal because it shares the machine with the measured server:
// requests are prepared bytes, and it reads only a response's status and end.
import { connect } from 'node:net';

const LENGTH = /\r\ncontent-length: *(\d+)/i;
const IS_CHUNKED = /\r\ntransfer-encoding: *chunked/i;
const IS_LAST = /\r\nconnection: *close/i;
const WITHOUT_BODY = new Set(['204', '304']);
const HEAD_END = '\r\n\r\n';

/** The bytes of a request. `origin` sets its Host header. */
export function requestBytes(origin, { method, path, headers, body = '' }) {
  const length = method === 'GET' ? {} : { 'Content-Length': Buffer.byteLength(body) };
  const fields = Object.entries({ Host: new URL(origin).host, ...headers, ...length });
  const lines = [`${method} ${path} HTTP/1.1`, ...fields.map(([name, value]) => `${name}: ${value}`)];
  return Buffer.from(`${lines.join('\r\n')}${HEAD_END}${body}`);
}

export class Connection {
  unread = '';

  /** @param patienceMs the longest wait for a response; 0 disables the limit */
  constructor(origin, patienceMs = 0) {
    const { hostname, port } = new URL(origin);
    this.address = { host: hostname, port: Number(port), noDelay: true, timeout: patienceMs };
  }

  /**
   * Sends a request. The previous response must have arrived.
   * @returns the response's status and text. The status is 0 if the connection was closed without a response
   */
  send(bytes) {
    this.socket ??= this.open();
    this.socket.write(bytes);
    return new Promise((resolve) => (this.resolve = resolve));
  }

  open() {
    const socket = connect(this.address).setEncoding('latin1');
    socket.on('data', (text) => {
      this.unread += text;
      if (isWhole(this.unread)) this.finish();
    });
    socket.on('error', () => undefined);
    socket.on('timeout', () => socket.destroy());
    socket.on('close', () => {
      if (this.socket === socket) this.finish();
    });
    return socket;
  }

  finish() {
    const { unread: text, resolve, socket } = this;
    this.unread = '';
    this.resolve = undefined;
    if (socket.destroyed || IS_LAST.test(headOf(text) ?? '')) this.close();
    resolve?.({ status: Number(text.slice(9, 12)), text });
  }

  close() {
    this.socket?.destroy();
    this.socket = undefined;
  }
}

function headOf(text) {
  const end = text.indexOf(HEAD_END);
  return end < 0 ? undefined : text.slice(0, end);
}

/** A response without a length ends with its connection. */
function isWhole(text) {
  const head = headOf(text);
  if (head === undefined) return false;
  const length = LENGTH.exec(head)?.[1];
  if (length !== undefined) return text.length >= head.length + HEAD_END.length + Number(length);
  if (IS_CHUNKED.test(head)) return text.endsWith('\r\n0\r\n\r\n');
  return WITHOUT_BODY.has(head.slice(9, 12));
}
