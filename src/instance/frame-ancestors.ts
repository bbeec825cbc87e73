// The origins that may frame the instance, and warnings about them at the start.
import type { Config } from '../config/load-config.js';
import type { Log } from '../platform/log/log.js';
import { areTooManyOrigins, MAX_ORIGINS_CHARACTERS } from '../platform/text/origin.js';
import { counted } from '../platform/text/wording.js';
import type { TrustedKeyEntry } from '../token-exchange/instance.js';
import { flowsOf } from '../token-exchange/instance.js';

type Embedding = Pick<Config, 'embedLoginEnabled' | 'frameAncestors' | 'featureFlag' | 'baseUrl'>;
type Entries = readonly Pick<TrustedKeyEntry, 'label' | 'origins' | 'flows'>[];

/**
 * The origins for `frame-ancestors` (CSP Level 3 §6.4.2): empty while embedded login is off, undefined if a
 * reverse proxy should set the header.
 * @rule 5.5.3 Only listed origins may frame the instance. See http/security-headers.ts for the header itself.
 */
export function frameAncestorsOf(config: Embedding, entries: Entries): readonly string[] | undefined {
  if (!config.embedLoginEnabled) return [];
  const origins = new Set([...config.frameAncestors, ...fittingOrigins(originsIn(entries))]);
  return origins.size === 0 ? undefined : [...origins];
}

function originsIn(entries: Entries): Set<string> {
  return new Set(entries.flatMap((entry) => [...(entry.origins ?? [])]));
}

/**
 * The origins that fit into the header. Others exist only if the configuration has grown since entries were
 * stored.
 */
function fittingOrigins(origins: ReadonlySet<string>): string[] {
  const list = [...origins];
  while (areTooManyOrigins(list, 'entries')) list.pop();
  return list;
}

/** The origins that may currently frame the instance. They change with stored entries. */
export class FrameAncestors {
  private origins: readonly string[] | undefined;

  constructor(
    private readonly config: Embedding,
    private readonly entries: Pick<PresentEntries<Entries[number]>, 'list' | 'onChange'>,
    private readonly logger: Pick<Log, 'warn'>,
  ) {
    this.update();
    entries.onChange(() => this.update());
  }

  /**
   * Like `frameAncestorsOf`. Includes suspended entries, because their users' sessions continue. Origins of stored entries may frame
   * the instance without a restart (D72).
   */
  get current(): readonly string[] | undefined {
    return this.origins;
  }

  /**
   * The origins that may frame a page for one host page, so that no header lists all partners.
   * @param origin the host page's origin; undefined if it has no origin that an entry could list
   */
  allowing(origin: string | undefined): readonly string[] | undefined {
    if (this.current === undefined || !this.config.embedLoginEnabled) return this.current;
    const { frameAncestors } = this.config;
    const isListed = frameAncestors.includes(origin ?? '') || originsIn(this.entries.list).has(origin ?? '');
    return isListed && origin !== undefined ? [origin] : frameAncestors;
  }

  private update(): void {
    const { list } = this.entries;
    this.origins = frameAncestorsOf(this.config, list);
    this.warnOfOthers(originsIn(list));
  }

  private warnOfOthers(origins: ReadonlySet<string>): void {
    const leftOut = origins.size - fittingOrigins(origins).length;
    if (leftOut === 0) return;
    const text = `${counted(leftOut, 'origin')} of stored entries cannot frame the instance`;
    this.logger.warn(
      {},
      `${text}: all entries together have over ${MAX_ORIGINS_CHARACTERS.entries} characters`,
    );
  }
}

/** Warns of settings that make an iframe unsafe, or make it fail silently in browsers. */
export function embeddingWarnings(config: Embedding, entries: Entries): string[] {
  if (!config.featureFlag || !config.embedLoginEnabled) return [];
  return [...framingWarnings(config, entries), ...plainHttpWarnings(config)];
}

function framingWarnings(config: Embedding, entries: Entries): string[] {
  if (frameAncestorsOf(config, entries) === undefined) {
    const text = 'is not set: any site may frame the instance, unless a reverse proxy sends frame-ancestors';
    return [`SVC_EMBED_FRAME_ANCESTORS: ${text}`];
  }
  if (config.frameAncestors.length > 0) return [];
  return entries
    .filter((entry) => entry.origins === undefined && flowsOf(entry).has('embed'))
    .map(({ label }) => {
      return `SVC_TOKEN_EXCHANGE_TRUSTED_KEYS: ${label} names no origins, while others do: its pages cannot frame the instance`;
    });
}

function plainHttpWarnings({ baseUrl }: Embedding): string[] {
  const { protocol, hostname } = new URL(baseUrl);
  if (protocol === 'https:') return [];
  const lost = 'is plain HTTP: browsers drop the session cookie of embedded logins';
  return /^(.+\.)?localhost$/.test(hostname)
    ? [`SVC_BASE_URL: ${lost}, except on localhost, as here; serve other machines over HTTPS`]
    : [`SVC_BASE_URL: ${lost}; serve HTTPS, with SVC_SSL_CERT and SVC_SSL_KEY or behind a reverse proxy`];
}

/** The configured and the stored entries. */
export class PresentEntries<Entry = TrustedKeyEntry> {
  private all: readonly Entry[];
  private readonly listeners: (() => void)[] = [];

  constructor(private readonly configured: readonly Entry[]) {
    this.all = configured;
  }

  /** The same list until an entry changes. */
  get list(): readonly Entry[] {
    return this.all;
  }

  /** @param stored all stored entries, including suspended ones */
  replaceStored(stored: readonly Entry[]): void {
    this.all = [...this.configured, ...stored];
    for (const onChange of this.listeners) onChange();
  }

  /** Listeners are called after each change, in the order of their addition. */
  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }
}
