// Sends the requests of `check`, below the instance's limits and each on its own connection.
import type { IncomingHttpHeaders, IncomingMessage, RequestOptions } from 'node:http';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { PartnerClock } from './clock.js';

const TIMEOUT_MS = 30_000;
const LONGEST_ANSWER_CHARACTERS = 256 * 1024;
/** Other clients may share this address and its limit, so a request may get 429. */
const MAX_TRIES = 4;
const DEFAULT_RETRY_SECONDS = 5;
const LONGEST_RETRY_SECONDS = 120;
const TOO_MANY_REQUESTS = 429;

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The properties of a JSON object; empty for anything else. */
  readonly members: Readonly<Record<string, unknown>>;
  readonly requestId: string | undefined;
  /** Times of this machine's clock, in milliseconds. */
  readonly sentMs: number;
  readonly receivedMs: number;
}

export interface Sending {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** There was no answer. */
export class NoAnswer extends Error {
  /** @param code of Node.js or OpenSSL, such as `ECONNREFUSED` or `CERT_HAS_EXPIRED` */
  constructor(readonly code: string) {
    super(`no answer (${code})`);
  }
}

export class InstanceRequests {
  /** The earliest time of the next request to each path, by the monotonic clock. */
  private readonly nextMs = new Map<string, number>();
  /** Differences between the times of answers and this machine's clock, in seconds. The instance is ahead if they are positive. */
  readonly offsets: number[] = [];

  /** @param perMinute the maximum number of forms for each path in a minute */
  constructor(
    private readonly baseUrl: string,
    private readonly perMinute: number,
    private readonly clock: PartnerClock,
  ) {}

  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.send(path, { headers });
  }

  /** Posts a form as soon as the limit allows. A 429 does not use up the token, so the form is sent again. */
  async post(
    path: string,
    fields: Readonly<Record<string, string>>,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const body = new URLSearchParams(fields).toString();
    const form = { 'content-type': 'application/x-www-form-urlencoded', ...headers };
    for (let tries = 1; ; tries += 1) {
      await this.turnAt(path);
      const answer = await this.send(path, { method: 'POST', headers: form, body });
      if (answer.status !== TOO_MANY_REQUESTS || tries === MAX_TRIES) return answer;
      await this.wait(retrySecondsOf(answer) * 1000);
    }
  }

  /** Records a time of an answer, in whole seconds since 1970. */
  noteTime(seconds: number, { sentMs, receivedMs }: Pick<Answer, 'sentMs' | 'receivedMs'>): void {
    const [first, last] = [Math.floor(sentMs / 1000), Math.floor(receivedMs / 1000)];
    this.offsets.push(seconds < first ? seconds - first : Math.max(0, seconds - last));
  }

  /** The largest difference so far. */
  get offset(): number {
    return this.offsets.reduce((most, each) => (Math.abs(each) > Math.abs(most) ? each : most), 0);
  }

  private async turnAt(path: string): Promise<void> {
    const nowMs = this.clock.monotonicMs();
    const turnMs = Math.max(nowMs, this.nextMs.get(path) ?? nowMs);
    this.nextMs.set(path, turnMs + 60_000 / this.perMinute);
    if (turnMs > nowMs) await this.wait(turnMs - nowMs);
  }

  private wait(milliseconds: number): Promise<void> {
    return this.clock.wait(milliseconds, new AbortController().signal);
  }

  private async send(path: string, sending: Sending): Promise<Answer> {
    const sentMs = this.clock.nowMs();
    const { message, text } = await exchanged(new URL(path, this.baseUrl), sending);
    const { headers, statusCode: status = 0 } = message;
    const id = headers['x-request-id'];
    const answer = {
      ...{ status, headers, text, members: membersOf(text) },
      requestId: typeof id === 'string' && /^[\w.:-]{1,128}$/.test(id) ? id : undefined,
      ...{ sentMs, receivedMs: this.clock.nowMs() },
    };
    const dateMs = Date.parse(headers.date ?? '');
    if (!Number.isNaN(dateMs)) this.noteTime(dateMs / 1000, answer);
    return answer;
  }
}

interface Exchanged {
  readonly message: IncomingMessage;
  readonly text: string;
}

/** A load balancer may choose an instance for each connection, so none is used twice. Redirects are not followed. */
function exchanged(url: URL, { method = 'GET', headers = {}, body }: Sending): Promise<Exchanged> {
  const options: RequestOptions = { method, headers, agent: false, timeout: TIMEOUT_MS };
  const request = url.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException) => reject(new NoAnswer(error.code ?? error.message));
    const sent = request(url, options, (message) => {
      let text = '';
      message.setEncoding('utf8').on('data', (part: string) => {
        text += part;
        if (text.length > LONGEST_ANSWER_CHARACTERS) message.destroy(new Error('ANSWER_TOO_LONG'));
      });
      message.on('error', fail).on('end', () => resolve({ message, text }));
    });
    sent.on('timeout', () => sent.destroy(new Error('TIMEOUT')));
    sent.on('error', fail).end(body);
  });
}

function membersOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

function retrySecondsOf({ headers }: Answer): number {
  const seconds = Number(headers['retry-after'] ?? DEFAULT_RETRY_SECONDS);
  return seconds >= 0 ? Math.min(seconds, LONGEST_RETRY_SECONDS) : DEFAULT_RETRY_SECONDS;
}
