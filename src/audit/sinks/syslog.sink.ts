// Sends audit events to a syslog server over one connection, by TCP or TLS.
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect as connectTcp, isIP } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import type { StreamedEvent } from './audit-sink.js';
import { AuditSink, codeOf, SinkError } from './audit-sink.js';
import type { SyslogSettings } from './sink-settings.js';

const CONNECT_MS = 10_000;
/** A server that accepts nothing for this long is lost. */
const WRITE_MS = 30_000;
const KEEPALIVE_DELAY_MS = 10_000;
const GOODBYE_MS = 1_000;
/**
 * Events of this long before a broken connection are sent again. The time suffices for a server to write what
 * it has read. A longer time would repeat more events after each break.
 */
const RESEND_MS = 60_000;

/**
 * Sends events by syslog, which has no acknowledgement: what was written to a connection may be lost with it.
 * Events that were sent shortly before a break are therefore sent again, and are not safe until then: a
 * duplicate is better than a gap.
 */
export class SyslogSink extends AuditSink {
  readonly name = 'syslog';
  override readonly unsafeMs = RESEND_MS;
  private socket: Socket | undefined;
  private present = new Ending();
  private former = new Ending();

  /** @param hostname the host name in messages */
  constructor(
    private readonly settings: SyslogSettings,
    private readonly hostname: string,
  ) {
    super();
  }

  /** Most servers close the connection before they stop: then it is known before more is written. */
  override isIntact(): boolean {
    return this.socket?.writable === true;
  }

  override hadGoodEnd(): boolean {
    return this.former.isGood;
  }

  override async connect(signal: AbortSignal): Promise<boolean> {
    if (this.isIntact()) return false;
    this.socket?.destroy();
    this.socket = undefined;
    const socket = this.createSocket();
    // Syslog servers send nothing, but without reading their goodbye would go unnoticed.
    socket.resume();
    const ready = this.settings.useTls ? 'secureConnect' : 'connect';
    await settled(socket, signal, CONNECT_MS, (done) => socket.once(ready, () => done()));
    this.socket = socket;
    this.former = this.present;
    this.present = new Ending(socket);
    return true;
  }

  async deliver(events: readonly StreamedEvent[], signal: AbortSignal): Promise<void> {
    const { socket } = this;
    if (socket === undefined || !this.isIntact()) throw new SinkError('the connection is closed');
    const frames = events.map((event) => syslogFrame(event, this.hostname)).join('');
    await settled(socket, signal, WRITE_MS, (done) => socket.write(frames, done));
  }

  async close(): Promise<void> {
    const { socket } = this;
    this.socket = undefined;
    if (socket === undefined || socket.destroyed) return;
    const impatience = setTimeout(() => socket.destroy(), GOODBYE_MS);
    await new Promise<void>((resolve) => socket.once('close', () => resolve()).end());
    clearTimeout(impatience);
  }

  private createSocket(): Socket {
    const { host, port, useTls, ca } = this.settings;
    const keepAlive = { keepAlive: true, keepAliveInitialDelay: KEEPALIVE_DELAY_MS, noDelay: true };
    const socket = useTls
      ? // Only a name can be sent to the server (RFC 6066 §3); the certificate must match a name or an address.
        connectTls({ host, port, ca, ...(isIP(host) === 0 && { servername: host }), ...keepAlive })
      : connectTcp({ host, port, ...keepAlive });
    // Without a listener an error would end the process. Afterwards the socket is no longer writable, which
    // is checked.
    return socket.on('error', () => undefined);
  }
}

/**
 * How a connection ends. A good end is a goodbye from the server, without unread data there, which would be
 * an error here.
 */
class Ending {
  private hasGoodbye = false;
  private hasError = false;

  constructor(socket?: Socket) {
    socket?.once('end', () => (this.hasGoodbye = true)).on('error', () => (this.hasError = true));
  }

  get isGood(): boolean {
    return this.hasGoodbye && !this.hasError;
  }
}

/**
 * Waits for a step on a socket, and destroys the socket if it fails.
 * @throws SinkError
 */
async function settled(
  socket: Socket,
  signal: AbortSignal,
  limitMs: number,
  step: (done: (error?: Error | null) => void) => void,
): Promise<void> {
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);
  const stepped = new Promise<void>((resolve, reject) =>
    step((error) => (error ? reject(error) : resolve())),
  );
  const closed = once(socket, 'close', { signal: over.signal }).then(() => {
    throw new SinkError('the connection was closed');
  });
  const late = pause(limitMs, undefined, { signal: either }).then(() => {
    throw new SinkError(`nothing within ${limitMs / 1000} seconds`);
  });
  try {
    await Promise.race([stepped, closed, late]);
  } catch (error) {
    socket.destroy();
    throw error instanceof SinkError ? error : new SinkError(`the connection failed (${codeOf(error)})`);
  } finally {
    over.abort();
    // Later outcomes are ignored.
    void Promise.allSettled([stepped, closed, late]);
  }
}

/** "log audit" (RFC 5424 §6.2.1). */
const FACILITY = 13;
const WARNING = 4;
const INFORMATIONAL = 6;
const APP_NAME = 'embedded-token-exchange';
const MAX_HOSTNAME = 255;
const MAX_MSGID = 32;
const NIL = '-';

/**
 * rsyslog splits messages of more than 8,096 octets by default. RFC 5425 §4.3.1 asks receivers to accept
 * 8,192.
 */
const MAX_FRAME_BYTES = 8000;
/** The number of octets in front of a message, and a space. */
const COUNT_BYTES = 5;

/**
 * A frame with octet counting (RFC 6587 §3.4.1, RFC 5425 §4.3), and the event as JSON in its MSG. It contains
 * the event's own time and id, so a repeated message is identical.
 * @param hostname from the instance's public URL, so that all its processes send the same
 */
export function syslogFrame({ name, occurredAt, json }: StreamedEvent, hostname: string): string {
  const priority = FACILITY * 8 + (/(failed|refused)$/.test(name) ? WARNING : INFORMATIONAL);
  const header = `<${priority}>1 ${occurredAt} ${printable(hostname, MAX_HOSTNAME)} ${APP_NAME} ${NIL} ${messageId(name)} ${NIL} `;
  const message = header + fitting(json, MAX_FRAME_BYTES - COUNT_BYTES - header.length);
  return `${Buffer.byteLength(message)} ${message}`;
}

/** Removes the largest payload members until the event fits, and lists them in `cut`. */
function fitting(json: string, mostBytes: number): string {
  if (Buffer.byteLength(json) <= mostBytes) return json;
  const { payload, ...rest } = JSON.parse(json) as { payload: Record<string, unknown> };
  const sizes = Object.entries(payload).map(([name, value]) => ({ name, bytes: bytesOf(value) }));
  const names = sizes.sort((one, other) => other.bytes - one.bytes).map(({ name }) => name);
  for (let count = 1; ; count += 1) {
    const cut = names.slice(0, count);
    const kept = Object.fromEntries(Object.entries(payload).filter(([name]) => !cut.includes(name)));
    const text = JSON.stringify({ ...rest, payload: kept, cut: cut.map((name) => `payload.${name}`) });
    if (count >= names.length || Buffer.byteLength(text) <= mostBytes) return text;
  }
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** The event's name without the common prefix: `succeeded`, `api.called`. */
function messageId(name: string): string {
  return printable(name.replace(/^svc\.audit\.(token-exchange\.)?/, ''), MAX_MSGID);
}

/** Keeps PRINTUSASCII only; NIL if nothing is left. */
function printable(text: string, most: number): string {
  return text.replace(/[^\x21-\x7e]/g, '').slice(0, most) || NIL;
}
