// A driver connection that passes bytes to the embedded engine and back.
import { Duplex } from 'node:stream';
import type { Engine } from './engine.js';
import { joined } from './engine.js';

/** `AuthenticationOk` and `ReadyForQuery`: the engine has one session and one user. */
const GREETING = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49]);
/** The client's Terminate message. PostgreSQL would end the session. The engine keeps it for the next client. */
const TERMINATE = 0x58;

type Done = (error?: Error) => void;

/**
 * A connection to the engine. Messages that are written while an answer is awaited are sent together later.
 * The driver calls the socket methods that streams do not have, such as `ref`.
 */
export class EngineSocket extends Duplex {
  private isGreeted = false;

  constructor(private readonly engine: Engine) {
    super();
  }

  connect(): this {
    process.nextTick(() => this.emit('connect'));
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  override _read(): void {
    // Responses are pushed when they arrive, without backpressure, because the statements limit their length.
  }

  override _write(chunk: Buffer, _encoding: string, done: Done): void {
    this.pass([chunk], done);
  }

  override _writev(chunks: readonly { chunk: Buffer }[], done: Done): void {
    this.pass(
      chunks.map(({ chunk }) => chunk),
      done,
    );
  }

  override _final(done: Done): void {
    this.push(null);
    done();
  }

  /** The driver writes one message at a time. The first one is the startup message. */
  private pass(messages: readonly Buffer[], done: Done): void {
    const questions = messages.slice(this.isGreeted ? 0 : 1).filter(([type]) => type !== TERMINATE);
    if (!this.isGreeted) this.push(GREETING);
    this.isGreeted = true;
    if (questions.length === 0) return done();
    this.engine.ask(joined(questions)).then((answer) => {
      this.push(answer);
      done();
    }, done);
  }
}
