// A connection for the driver: its bytes go to the embedded engine, and the engine's come back.
import { Duplex } from 'node:stream';
import type { Engine } from './engine.js';
import { joined } from './engine.js';

/** `AuthenticationOk` and `ReadyForQuery`: the engine has one session and one user. */
const GREETING = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49]);
/** A client says that it goes. PostgreSQL would end with the session; the engine goes on for the next client. */
const TERMINATE = 0x58;

type Done = (error?: Error) => void;

/**
 * A connection to the engine. What is written while an answer is awaited goes along with the next question, in one piece.
 * The methods beside those of a stream are those of a socket which the driver calls.
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
    // Answers come as they are there: their length is bounded by what was asked.
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

  /** The driver writes a message at a time, the first of which introduces the client. */
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
