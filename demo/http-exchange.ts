// One HTTP request to the instance and its answer, as plain values that the transcript can print.
import type { Members } from './partner.js';

export interface HttpRequest {
  method: 'GET' | 'POST';
  path: string;
  headers?: Record<string, string>;
  /** Sent as `application/x-www-form-urlencoded`. */
  form?: Record<string, string>;
}

export interface HttpAnswer {
  status: number;
  reason: string;
  headers: Headers;
  text: string;
  /** The body's properties if it is a JSON object; empty otherwise. */
  json: Members;
}

const ANSWER_TIMEOUT_MILLISECONDS = 15_000;

/** Sends the request and reads the whole response. Redirects are not followed. Throws if there is no response. */
export async function send(baseUrl: string, request: HttpRequest): Promise<HttpAnswer> {
  const { method, path, headers = {}, form } = request;
  const answer = await fetch(new URL(path, baseUrl), {
    method,
    headers,
    body: form && new URLSearchParams(form),
    redirect: 'manual',
    signal: AbortSignal.timeout(ANSWER_TIMEOUT_MILLISECONDS),
  });
  const text = await answer.text();
  return {
    status: answer.status,
    reason: answer.statusText,
    headers: answer.headers,
    text,
    json: membersOf(text),
  };
}

/** `name=value` of the response's cookie, for a `Cookie` header; empty if there is none. */
export function cookieFrom(answer: HttpAnswer, name: string): string {
  const line = answer.headers.getSetCookie().find((cookie) => cookie.startsWith(`${name}=`));
  return line?.split(';', 1)[0] ?? '';
}

/** A `Set-Cookie` or `Cookie` line with the values of its cookies hidden and its attributes kept. */
export function redactCookie(line: string): string {
  return line.replace(/^([^=;]+)=[^;]+/, '$1=(redacted)');
}

/** The properties of a JSON object; none for any other text. */
export function membersOf(text: string): Members {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
