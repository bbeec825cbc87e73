// Posts batches of audit events to the operator's URL, signed.
import { createHmac } from 'node:crypto';
import { Client } from 'undici';
import { VARIABLES } from '../../config/environment.js';
import type { Clock } from '../../platform/clock.js';
import { guardedConnector } from '../../platform/http/guarded-connector.js';
import {
  AddressRefusedError,
  NetworkAddressPolicy,
  settingThatAllows,
} from '../../platform/http/network-address.js';
import type { StreamedEvent } from './audit-sink.js';
import { AuditSink, codeOf, SinkError } from './audit-sink.js';
import type { WebhookSettings } from './sink-settings.js';

/**
 * Status codes with which receivers and firewalls refuse a body. 403 is missing, because wrong credentials also get it.
 */
const OF_CONTENT = [400, 406, 413, 422];
/** The total time limit: DNS, connection, request and response headers. */
const DEADLINE_MS = 10_000;
const VARIABLE_NAMES = {
  allowHttp: VARIABLES.auditWebhookAllowHttp.name,
  allowPrivate: VARIABLES.auditWebhookAllowPrivate.name,
};
/** How much of a response body is read and discarded, to reuse the connection. */
const MAX_ANSWER_BYTES = 65_536;
/** A longer `Retry-After` is reduced to this: it may be a mistake, and events are waiting. */
const LONGEST_RETRY_AFTER_MS = 3_600_000;
const CREDENTIALS_REFUSED = `the receiver refuses the credentials in ${VARIABLES.auditWebhookHeaders.name}, ${VARIABLES.auditWebhookUrl.name} or ${VARIABLES.auditWebhookSecrets.name}`;

/**
 * Only a 2xx response is a success, redirects are not followed, and `Retry-After` is obeyed. Only public
 * addresses are reached, unless the configuration allows others. The address is checked when the
 * connection is opened; several requests then use it.
 */
export class WebhookSink extends AuditSink {
  readonly name = 'webhook';
  private readonly url: URL;
  private readonly addresses: NetworkAddressPolicy;
  private client: Client | undefined;

  constructor(
    private readonly settings: WebhookSettings,
    private readonly clock: Clock,
  ) {
    super();
    const { url, allowHttp, allowPrivate } = settings;
    this.url = new URL(url);
    this.addresses = new NetworkAddressPolicy({ allowLoopback: allowHttp, allowRanges: allowPrivate });
  }

  async deliver(events: readonly StreamedEvent[], signal: AbortSignal): Promise<void> {
    const body = `{"sink":${JSON.stringify(this.name)},"events":[${events.map(({ json }) => json).join(',')}]}`;
    const deadline = AbortSignal.timeout(DEADLINE_MS);
    try {
      const { status, retryAfter } = await this.post(body, AbortSignal.any([signal, deadline]));
      if (status < 200 || status > 299)
        throw new SinkError(describeStatus(status), {
          isOfContent: OF_CONTENT.includes(status),
          retryAfterMs: retryAfterMs(retryAfter, this.clock.nowMs()),
        });
    } catch (error) {
      // Aborts pending work on the connection.
      await this.close();
      throw deadline.aborted
        ? new SinkError(`no answer within ${DEADLINE_MS / 1000} seconds`)
        : asSinkError(error);
    }
  }

  async close(): Promise<void> {
    const { client } = this;
    this.client = undefined;
    await client?.destroy();
  }

  private async post(body: string, signal: AbortSignal): Promise<{ status: number; retryAfter: string }> {
    const client = (this.client ??= this.connected());
    const seconds = Math.floor(this.clock.nowMs() / 1000);
    const {
      statusCode: status,
      headers: { 'retry-after': retryAfter },
      body: answer,
    } = await client.request({
      path: this.url.pathname + this.url.search,
      method: 'POST',
      headers: {
        ...Object.fromEntries(this.settings.headers),
        'content-type': 'application/json',
        'user-agent': 'embedded-token-exchange',
        [SIGNATURE_HEADER]: signatureOf(body, seconds, this.settings.secrets),
      },
      body,
      signal,
    });
    await answer.dump({ limit: MAX_ANSWER_BYTES, signal }).catch(() => undefined);
    return { status, retryAfter: String(retryAfter) };
  }

  private connected(): Client {
    return new Client(this.url.origin, { connect: guardedConnector(this.addresses, DEADLINE_MS) });
  }
}

function describeStatus(status: number): string {
  if (status >= 300 && status < 400) return `redirects are not followed (status ${status})`;
  if (status === 401) return `status 401: ${CREDENTIALS_REFUSED}`;
  if (status === 403) return `status 403: ${CREDENTIALS_REFUSED}, or a firewall the content`;
  return `status ${status}`;
}

/** @param value seconds or an HTTP date (RFC 9110 §10.2.3); anything else means no wait */
function retryAfterMs(value: string, nowMs: number): number {
  const waitMs = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - nowMs;
  return waitMs > 0 ? Math.min(waitMs, LONGEST_RETRY_AFTER_MS) : 0;
}

function asSinkError(error: unknown): SinkError {
  if (error instanceof SinkError) return error;
  if (error instanceof AddressRefusedError)
    return new SinkError(`${error.message} (see ${settingThatAllows(error.address, VARIABLE_NAMES)})`);
  return new SinkError(`the connection failed (${codeOf(error)})`);
}

/** The header with the signature, which proves to the receiver who sent the request and when. */
const SIGNATURE_HEADER = 'x-audit-signature';

/**
 * The header's value: `t=SECONDS,v1=HEX`, with one `v1` per secret. Each is the HMAC-SHA-256 of
 * `SECONDS.BODY`. It includes the time, so that a captured request cannot be replayed later.
 * @param seconds since the Unix epoch
 * @param secrets the receiver's secrets; their UTF-8 bytes are the key
 */
export function signatureOf(body: string, seconds: number, secrets: readonly string[]): string {
  const signatures = secrets.map((secret) => {
    const hmac = createHmac('sha256', secret).update(`${seconds}.`).update(body);
    return `v1=${hmac.digest('hex')}`;
  });
  return [`t=${seconds}`, ...signatures].join(',');
}
