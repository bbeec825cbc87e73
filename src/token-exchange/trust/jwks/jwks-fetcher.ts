// Fetches the bytes of a key set from an untrusted address.
import type { Dispatcher } from 'undici';
import { Client } from 'undici';
import { guardedConnector } from '../../../platform/http/guarded-connector.js';
import {
  AddressRefusedError,
  NetworkAddressPolicy,
  settingThatAllows,
} from '../../../platform/http/network-address.js';
import type { KeySetFetchOutcome } from '../../host/telemetry.js';
import type { JwksSettings } from '../../settings/token-exchange.options.js';
import type { JwksSettingNames } from '../entry-rules.js';
import { JWKS_SETTING_NAMES } from '../entry-rules.js';

const DEADLINE_MS = 5_000;
const MAX_BODY_BYTES = 1_048_576;
const REQUEST_HEADERS = {
  accept: 'application/jwk-set+json, application/json',
  // A compressed answer could expand to any size, so it is refused.
  'accept-encoding': 'identity',
  'user-agent': 'embedded-token-exchange',
};

/** The body of a 200 answer, and its freshness lifetime within D34's bounds. */
export interface JwksAnswer {
  readonly body: Uint8Array;
  readonly maxAgeSeconds: number | undefined;
}

/** A failed fetch. The message says why, and contains nothing from the answer but its status. */
export class JwksFetchError extends Error {
  constructor(
    readonly outcome: KeySetFetchOutcome,
    message: string,
  ) {
    super(message);
  }
}

/** Fetches one URL. Callers limit the rate. */
export class JwksFetcher {
  private readonly addresses: NetworkAddressPolicy;
  private readonly protocols: readonly string[];
  private readonly settingNames: JwksSettingNames;

  constructor({
    allowHttp,
    allowPrivate,
    settingNames = JWKS_SETTING_NAMES,
  }: Pick<JwksSettings, 'allowHttp' | 'allowPrivate' | 'settingNames'>) {
    this.settingNames = settingNames;
    this.addresses = new NetworkAddressPolicy({ allowLoopback: allowHttp, allowRanges: allowPrivate });
    this.protocols = allowHttp ? ['https:', 'http:'] : ['https:'];
  }

  /**
   * Gets a URL. Each fetch has its own client, so that no connection is reused after its check.
   * @rule D33 One deadline of 5 seconds in all, at most 1 MiB, status 200, no redirect, public https addresses only.
   * @param mostBytes of the answer
   * @param beganAtMs start of the deadline, on the monotonic clock; for an address from another answer, the start of that fetch
   * @throws JwksFetchError
   */
  async fetch(
    address: string,
    mostBytes = MAX_BODY_BYTES,
    beganAtMs = performance.now(),
  ): Promise<JwksAnswer> {
    const url = new URL(address);
    if (!this.protocols.includes(url.protocol))
      throw new JwksFetchError(
        'address_refused',
        `only https: addresses are allowed (see ${this.settingNames.allowHttp})`,
      );
    const client = this.connect(url);
    try {
      return await withinDeadline(exchange(client, url, mostBytes), beganAtMs);
    } catch (error) {
      throw this.asFetchError(error);
    } finally {
      await client.destroy();
    }
  }

  /** Shows only the code or class of a foreign error, because its message may contain parts of the answer. */
  private asFetchError(error: unknown): JwksFetchError {
    if (error instanceof JwksFetchError) return error;
    if (error instanceof AddressRefusedError) {
      const setting = settingThatAllows(error.address, this.settingNames);
      return new JwksFetchError('address_refused', `${error.message} (see ${setting})`);
    }
    const { code, name } = error as { code?: unknown; name?: unknown };
    return new JwksFetchError('connection_failed', `the connection failed (${String(code ?? name)})`);
  }

  private connect({ origin }: URL): Client {
    return new Client(origin, { connect: guardedConnector(this.addresses, DEADLINE_MS) });
  }
}

async function exchange(client: Client, url: URL, mostBytes: number): Promise<JwksAnswer> {
  const response = await client.request({
    path: url.pathname + url.search,
    method: 'GET',
    headers: REQUEST_HEADERS,
    // Sends `connection: close`, because there is no second request.
    reset: true,
  });
  refuseByHead(response);
  const body = await readBody(response.body, mostBytes);
  return { body, maxAgeSeconds: maxAgeSeconds(textOf(response.headers['cache-control'])) };
}

function refuseByHead({ statusCode, headers }: Dispatcher.ResponseData): void {
  const isRedirect = statusCode >= 300 && statusCode < 400;
  if (isRedirect) throw new JwksFetchError('status', `redirects are not followed (status ${statusCode})`);
  if (statusCode !== 200) throw new JwksFetchError('status', `status ${statusCode}`);
  const encoding = textOf(headers['content-encoding'])?.toLowerCase() ?? 'identity';
  if (encoding !== 'identity') throw new JwksFetchError('answer_refused', 'compressed responses are refused');
}

/** Counts while reading, because `Content-Length` may be missing or wrong. */
async function readBody(body: AsyncIterable<Uint8Array>, mostBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > mostBytes)
      throw new JwksFetchError('answer_refused', `the answer is larger than ${inWords(mostBytes)}`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function inWords(bytes: number): string {
  return bytes < 1_048_576 ? `${bytes / 1024} KiB` : `${bytes / 1_048_576} MiB`;
}

/**
 * Limits every wait: for a name server, a connection, a header or the next byte. The work itself ends when the caller destroys
 * the client.
 */
async function withinDeadline<T>(work: Promise<T>, beganAtMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    const late = new JwksFetchError('timeout', `no complete answer within ${DEADLINE_MS / 1000} seconds`);
    timer = setTimeout(() => reject(late), beganAtMs + DEADLINE_MS - performance.now());
  });
  try {
    return await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
  }
}

function textOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join(', ') : header;
}

const MIN_SECONDS = 60;
const MAX_SECONDS = 86_400;
/** A quoted or non-numeric value is invalid (RFC 9111 §5.2.2.1). */
const MAX_AGE = /(?:^|,)\s*max-age=(\d+)\s*(?:,|$)/i;

/**
 * The `max-age` of a Cache-Control field, limited to 60 to 86,400 seconds (D34); undefined if there is no valid one. The Age field
 * is not subtracted, because the lower bound would usually hide the difference.
 * @param field the value of the field, several lines joined by commas
 */
export function maxAgeSeconds(field = ''): number | undefined {
  const [, seconds] = MAX_AGE.exec(field) ?? [];
  return seconds === undefined ? undefined : Math.min(Math.max(Number(seconds), MIN_SECONDS), MAX_SECONDS);
}
