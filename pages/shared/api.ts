// Sends requests to the page's instance. A part of the client authenticates them.
import type { Failure } from '../protocol.js';

const PATIENCE_MS = 15_000;
const REPEAT_MS = 500;

/** A request before it is sent. */
export interface Call {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  /** Posted as a form. */
  form?: Record<string, string>;
  /** Sent as JSON. */
  json?: object;
  headers?: Record<string, string>;
  /** Whether the request has no user, because it opens a session. */
  isAnonymous?: boolean;
}

/** Authenticates requests. */
export interface Authentication {
  /** Returns the request's headers and other options. */
  prepare(call: Call): Promise<RequestInit>;
  /** Learns from an answer. @returns whether the same request may now succeed */
  learn(answer: Response, body: Record<string, unknown>): boolean;
  /** Whether the instance may know the session a moment later, although it has just denied it. */
  readonly mayBeLate: boolean;
}

/** The instance refused a request. Its log has the cause under `requestId`. */
export class RefusedError extends Error implements Failure {
  readonly error: string;
  readonly requestId: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly description: string | undefined;

  constructor(
    readonly status: number,
    headers: Headers,
    readonly body: Record<string, unknown>,
  ) {
    const { error, message } = body;
    super('The instance refused a request');
    this.error = typeof error === 'string' ? error : 'unreachable';
    this.description = typeof message === 'string' ? message : undefined;
    this.requestId = headers.get('x-request-id') ?? undefined;
    this.retryAfterSeconds = Number(headers.get('retry-after')) || undefined;
  }
}

/** An error as the host page receives it. */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof RefusedError)) return { error: 'unreachable' };
  const { description, requestId, retryAfterSeconds } = error;
  return { error: error.error, description, requestId, retryAfterSeconds };
}

export class ApiClient {
  constructor(
    private readonly authentication: Authentication,
    private readonly patienceMs = PATIENCE_MS,
  ) {}

  /**
   * A read without an answer is repeated once, for example after the machine has slept.
   * @returns the body; undefined if it is empty
   * @throws RefusedError; TypeError or DOMException if there was no answer
   */
  async request<Answer>(call: Call, signal: AbortSignal): Promise<Answer> {
    try {
      return await this.ask<Answer>(call, signal);
    } catch (error) {
      if (signal.aborted || !this.isWorthRepeating(call, error)) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, REPEAT_MS));
    signal.throwIfAborted();
    return this.ask<Answer>(call, signal);
  }

  get<Answer>(path: string, signal: AbortSignal): Promise<Answer> {
    return this.request<Answer>({ method: 'GET', path }, signal);
  }

  private isWorthRepeating({ method }: Call, error: unknown): boolean {
    if (error instanceof RefusedError) return error.status === 401 && this.authentication.mayBeLate;
    return method === 'GET';
  }

  private async ask<Answer>(call: Call, signal: AbortSignal, isRepeated = false): Promise<Answer> {
    const { answer, text } = await this.send(call, signal);
    if (answer.ok) {
      this.authentication.learn(answer, {});
      return (text === '' ? undefined : JSON.parse(text)) as Answer;
    }
    const body = objectIn(text);
    if (this.authentication.learn(answer, body) && !isRepeated) return this.ask(call, signal, true);
    throw new RefusedError(answer.status, answer.headers, body);
  }

  /**
   * The mode stays `cors`, fetch's default: in mode `same-origin` a page without referrer posts `Origin: null`, which
   * the instance takes for a forgery.
   */
  private async send(call: Call, signal: AbortSignal): Promise<{ answer: Response; text: string }> {
    const { method, path } = call;
    const prepared = await this.authentication.prepare(call);
    const limit = new AbortController();
    const abort = () => limit.abort();
    const timer = setTimeout(abort, this.patienceMs);
    signal.addEventListener('abort', abort);
    if (signal.aborted) abort();
    try {
      const { body, headers } = contentOf(call);
      const answer = await fetch(path, {
        method,
        body,
        cache: 'no-store',
        ...prepared,
        headers: { ...headers, ...(prepared.headers as Record<string, string> | undefined) },
        signal: limit.signal,
      });
      return { answer, text: await answer.text() };
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    }
  }
}

function contentOf({ form, json, headers }: Call): { body?: BodyInit; headers?: Record<string, string> } {
  if (json === undefined) return { body: form && new URLSearchParams(form), headers };
  return { body: JSON.stringify(json), headers: { ...headers, 'content-type': 'application/json' } };
}

/** Empty if the answer is not the instance's, but a proxy's for example. */
function objectIn(text: string): Record<string, unknown> {
  try {
    return (JSON.parse(text) ?? {}) as Record<string, unknown>;
  } catch {
    return {};
  }
}
