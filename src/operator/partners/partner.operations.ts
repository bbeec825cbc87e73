// What "Add a partner" asks the instance besides the operations of entries: keys that are to be trusted, and the first requests.
import { Inject, Injectable } from '@nestjs/common';
import { explainedRequest } from '../../administration/explain/explain-token.operation.js';
import { fetchKeySets } from '../../administration/keys/key-sets.operations.js';
import { inputOf, Read } from '../../administration/operation.js';
import { PublicKeyError, readPublicKey } from '../../administration/partners/public-key.js';
import type { StoredEvent } from '../../audit/audit-trail.reader.js';
import { AuditTrailReader } from '../../audit/audit-trail.reader.js';
import { OUTCOME_EVENTS, outcomeOf } from '../../audit/instance-events.js';
import type { TrailFilter } from '../../audit/trail-filter.js';
import { checkText } from '../../audit/trail-filter.js';
import type { Startup } from '../../config/startup.js';
import { STARTUP } from '../../config/startup.js';
import { trustedKeysRules } from '../../instance/prepare-startup.js';
import { Clock } from '../../platform/clock.js';
import { WorkQueue } from '../../platform/http/throttle/work-queue.js';
import type { Checked } from '../../platform/input/schemas.js';
import { moment, readBy, storableString } from '../../platform/input/schemas.js';
import { parsedUrl } from '../../platform/text/url.js';
import { SEARCH_LIMITS } from '../api/list-page.js';
import { inLabels } from '../entries/entry-form.js';

const readKey = inputOf({
  /** PEM or JWK. */
  text: storableString(),
});

const readKeySet = inputOf({
  url: readBy(storableString(), checkUrl),
});

const readWait = inputOf({
  issuer: readBy(storableString(), checkText),
  /** When the wait began. */
  since: moment(),
});

/** A page waits for so long. */
const LONGEST_WAIT_MS = 10 * 60_000;
const MAX_SHOWN = 20;

function checkUrl(text: string): Checked<string> {
  return parsedUrl(text) ? { value: text } : { rule: 'must be a URL' };
}

@Injectable()
export class PartnerOperations {
  /** Looks at the trail and fetches one at a time. */
  private readonly queue = new WorkQueue(SEARCH_LIMITS);

  constructor(
    private readonly trail: AuditTrailReader,
    private readonly clock: Clock,
    @Inject(STARTUP) private readonly startup: Startup,
  ) {}

  /** Returns the members of an entry for a public key, or what is wrong with the text. */
  @Read('partners read-key', readKey)
  async readKey({ text }: ReturnType<typeof readKey>) {
    try {
      return { problem: null, ...(await readPublicKey(text)) };
    } catch (error) {
      if (error instanceof PublicKeyError) return { problem: error.message };
      throw error;
    }
  }

  /** Fetches a key set as `keys check --fetch` does. Nothing is stored. */
  @Read('partners fetch-keys', readKeySet)
  async fetchKeys({ url }: ReturnType<typeof readKeySet>) {
    const rules = trustedKeysRules(this.startup.config);
    const [set] = await this.queue.run(() => fetchKeySets([{ label: 'new', url }], rules));
    const { keys = [], dropped = [], failure = null } = set ?? {};
    return { keys, dropped, failure };
  }

  /**
   * The newest requests of an issuer, and those whose issuer no entry has: a misspelt `iss` is the usual reason why an issuer has no
   * requests.
   */
  @Read('partners requests', readWait)
  async requests({ issuer, since }: ReturnType<typeof readWait>) {
    const earliestMs = this.clock.nowMs() - LONGEST_WAIT_MS;
    const from = new Date(Math.max(Date.parse(since), earliestMs));
    const own = await this.newest({ issuer, event: OUTCOME_EVENTS }, from);
    const strange = await this.newest({ reason: 'issuer_unknown' }, from);
    const all = [...own, ...strange].sort(
      (one, other) => other.occurredAt.getTime() - one.occurredAt.getTime(),
    );
    return { data: all.slice(0, MAX_SHOWN).map((event) => requestOf(event, issuer)) };
  }

  private async newest(filter: TrailFilter, since: Date): Promise<readonly StoredEvent[]> {
    const place = { range: { since } };
    const query = { filter, place, order: 'newest', limit: MAX_SHOWN } as const;
    const { events } = await this.queue.run(() => this.trail.page(query));
    return events;
  }
}

function requestOf(stored: StoredEvent, issuer: string) {
  const { requestId, payload } = stored;
  const [event] = explainedRequest(requestId, [stored]).events;
  const outcome = outcomeOf(stored.event);
  return {
    id: stored.id,
    requestId,
    occurredAt: stored.occurredAt.toISOString(),
    event: stored.event,
    /** `exchange`, `embed` or another flow. */
    of: outcome?.of ?? null,
    succeeded: outcome?.is === 'succeeded',
    /** Whether the request names the issuer; otherwise it may be another partner's. */
    own: payload['issuer'] === issuer,
    reason: event?.reason ?? null,
    ...inLabels({ cause: event?.cause ?? null, remedy: event?.remedy ?? null }),
    expected: textIn(payload['expected']),
    found: textIn(payload['found']),
  };
}

function textIn(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
