// Fetches a key set, stores the result for all instances, and decides when the next fetch is due.
import type { Clock } from '../../../platform/clock.js';
import { isJsonObject } from '../../../platform/json/strict-json.js';
import type { Log } from '../../../platform/log/log.js';
import { parsedUrl } from '../../../platform/text/url.js';
import type { ExchangeTelemetry, KeySetFetchOutcome } from '../../host/telemetry.js';
import type { JwksSettings } from '../../settings/token-exchange.options.js';
import type { JwksContent } from '../jwks-content.js';
import { JwksContentError, parseDocument, readJwks, writeJwks } from '../jwks-content.js';
import type { JwksCacheEntry } from './jwks-cache-entry.js';
import type { JwksAnswer, JwksFetcher } from './jwks-fetcher.js';
import { JwksFetchError } from './jwks-fetcher.js';
import type { FetchOutcome, JwksSnapshotRepository } from './jwks-snapshot.repository.js';

const DEFAULT_FRESH_SECONDS = 3_600;
/** The limit of a client ID metadata document, as its draft proposes. */
const MAX_DOCUMENT_BYTES = 5_120;
const FIRST_RETRY_SECONDS = 5;
const LONGEST_RETRY_SECONDS = 300;
/** The jitter of back-off times, in both directions, so that instances and entries do not retry in step. */
const JITTER = 0.2;

interface Fetch {
  readonly cached: JwksCacheEntry;
  readonly startedAt: Date;
  readonly knownRevision: number;
}

export class JwksRefresh {
  private readonly flights = new Map<JwksCacheEntry, Promise<void>>();
  private readonly loggedWarnings = new WeakMap<JwksCacheEntry, string>();

  constructor(
    private readonly options: Pick<JwksSettings, 'refreshIntervalSeconds'>,
    private readonly fetcher: JwksFetcher,
    private readonly snapshots: JwksSnapshotRepository,
    private readonly clock: Clock,
    private readonly logger: Log,
    private readonly telemetry: ExchangeTelemetry,
  ) {}

  /** Fetches one entry's keys. Callers share a running fetch. Never rejects. */
  refresh(cached: JwksCacheEntry): Promise<void> {
    const running = this.flights.get(cached);
    if (running !== undefined) return running;
    const flight = this.run(cached).finally(() => this.flights.delete(cached));
    this.flights.set(cached, flight);
    return flight;
  }

  running(cached: JwksCacheEntry): Promise<void> | undefined {
    return this.flights.get(cached);
  }

  async idle(): Promise<void> {
    await Promise.all(this.flights.values());
  }

  private async run(cached: JwksCacheEntry): Promise<void> {
    const knownRevision = cached.snapshot.revision;
    const fetch: Fetch = { cached, startedAt: this.clock.now(), knownRevision };
    const step = { name: 'jwks_fetch', entry: cached.entry.label } as const;
    try {
      const { answer, content } = await this.telemetry.traced(step, () => this.fetchKeys(cached));
      this.warn(cached, content.warnings);
      await this.succeed(fetch, answer, content);
      this.telemetry.countKeySetFetch(content.keys.length === 0 ? 'no_usable_key' : 'succeeded');
    } catch (error) {
      this.telemetry.countKeySetFetch(outcomeOf(error));
      await this.fail(fetch, this.reasonOf(error));
    }
  }

  private async fetchKeys({ entry }: JwksCacheEntry): Promise<{ answer: JwksAnswer; content: JwksContent }> {
    const { url, isClientDocument = false } = entry;
    if (!isClientDocument) return keysIn(await this.fetcher.fetch(url));
    const beganAtMs = performance.now();
    const answer = await this.fetcher.fetch(url, MAX_DOCUMENT_BYTES);
    const found = readClientDocument(answer.body, url);
    if ('jwks' in found) return keysIn({ ...answer, body: found.jwks });
    return keysIn(await this.fetcher.fetch(found.jwksUri, undefined, beganAtMs));
  }

  /**
   * @rule D34 Keys are fresh for max-age, else the entry's cacheTtlSeconds, else 3,600 seconds; fetched again then. See
   * jwks-fetcher.ts for the bounds of max-age, `fail` below for retries, jwks-cache-entry.ts for how long keys outlive a failing
   * endpoint, unknown-kid-search.ts for the one fetch that an unknown kid causes. Where neither is given the refresh interval
   * decides (8.2), but not beyond the time in which keys are fresh: stale keys are for failures. A set without a usable key is no
   * failure: it is how an issuer withdraws all trust, and the next unknown kid asks again.
   */
  private async succeed(
    fetch: Fetch,
    { maxAgeSeconds }: JwksAnswer,
    { keys, warnings }: JwksContent,
  ): Promise<void> {
    const { cached, startedAt } = fetch;
    const lifeSeconds = maxAgeSeconds ?? cached.entry.cacheTtlSeconds;
    const freshSeconds = lifeSeconds ?? DEFAULT_FRESH_SECONDS;
    const dueSeconds = lifeSeconds ?? Math.min(this.options.refreshIntervalSeconds, freshSeconds);
    await this.store(fetch, {
      keySet: writeJwks(keys, warnings),
      freshUntil: later(startedAt, freshSeconds),
      lastSuccessAt: startedAt,
      consecutiveFailures: 0,
      nextRefreshAt: later(startedAt, dueSeconds),
    });
  }

  private async fail(fetch: Fetch, reason: string): Promise<void> {
    const { cached, startedAt } = fetch;
    const consecutiveFailures = cached.snapshot.consecutiveFailures + 1;
    await this.store(fetch, {
      lastFailureAt: startedAt,
      lastFailureReason: reason,
      consecutiveFailures,
      nextRefreshAt: this.afterNow(this.retrySeconds(cached, consecutiveFailures)),
    });
  }

  /**
   * If the database is away, the outcome applies to this process only, and a retry is due soon. The revision stays, so that the
   * next stored one is news.
   */
  private async store({ cached, knownRevision }: Fetch, outcome: FetchOutcome): Promise<void> {
    try {
      cached.apply(await this.snapshots.record(cached.address, outcome, knownRevision));
    } catch (error) {
      const hasFailed = outcome.consecutiveFailures > 0;
      const nextRefreshAt = hasFailed ? outcome.nextRefreshAt : this.afterNow(FIRST_RETRY_SECONDS);
      cached.apply({ ...cached.snapshot, ...outcome, nextRefreshAt });
      this.logger.error(
        { ...cached.logFields, err: error },
        'the outcome of a JWKS fetch could not be stored',
      );
    }
  }

  private afterNow(seconds: number): Date {
    return later(this.clock.now(), seconds);
  }

  /** Doubles from 5 seconds up to 5 minutes, but never beyond the entry's normal interval. */
  private retrySeconds({ entry }: JwksCacheEntry, consecutiveFailures: number): number {
    const normalSeconds = entry.cacheTtlSeconds ?? this.options.refreshIntervalSeconds;
    const backOffSeconds = FIRST_RETRY_SECONDS * 2 ** (consecutiveFailures - 1);
    const spread = 1 + JITTER * (2 * Math.random() - 1);
    return Math.min(backOffSeconds, LONGEST_RETRY_SECONDS, normalSeconds) * spread;
  }

  /** Warns once of each dropped key, until others are dropped. */
  private warn(cached: JwksCacheEntry, warnings: readonly string[]): void {
    const joined = warnings.join('\n');
    if (this.loggedWarnings.get(cached) === joined) return;
    this.loggedWarnings.set(cached, joined);
    for (const warning of warnings)
      this.logger.warn({ ...cached.logFields, warning }, 'a key of a JWKS is not used');
  }

  private reasonOf(error: unknown): string {
    if (error instanceof JwksFetchError || error instanceof JwksContentError) return error.message;
    this.logger.error({ err: error }, 'a JWKS fetch failed because of an internal error');
    return 'internal error';
  }
}

function keysIn(answer: JwksAnswer): { answer: JwksAnswer; content: JwksContent } {
  return { answer, content: readJwks(answer.body) };
}

function outcomeOf(error: unknown): KeySetFetchOutcome {
  if (error instanceof JwksFetchError) return error.outcome;
  return error instanceof JwksContentError ? 'not_a_key_set' : 'internal_fault';
}

function later(moment: Date, seconds: number): Date {
  return new Date(moment.getTime() + seconds * 1000);
}

/** The key set in a client's document, or its address. */
export type ClientKeySet = { readonly jwks: Uint8Array } | { readonly jwksUri: string };

/**
 * @param url the document's address, which is the client's id
 * @throws JwksContentError if it is not that client's document, or has no keys
 */
export function readClientDocument(bytes: Uint8Array, url: string): ClientKeySet {
  const document = parseDocument(bytes);
  if (!isJsonObject(document)) throw new JwksContentError('the metadata document is no JSON object');
  const { client_id: id, token_endpoint_auth_method: method, jwks, jwks_uri: jwksUri } = document;
  if (id !== url) throw new JwksContentError('the client_id of the metadata document is not its address');
  if (method !== 'private_key_jwt')
    throw new JwksContentError('token_endpoint_auth_method of the metadata document is not private_key_jwt');
  // RFC 7591 §2: not both may be present.
  if (jwks !== undefined && jwksUri === undefined) return { jwks: Buffer.from(JSON.stringify(jwks)) };
  if (jwks === undefined && typeof jwksUri === 'string' && parsedUrl(jwksUri)) return { jwksUri };
  throw new JwksContentError('the metadata document must have either jwks or the URL jwks_uri');
}
