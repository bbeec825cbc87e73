// Checks when a key set must be fetched again, even after a clock change.
import { SILENT } from '../../../../../src/platform/log/log.js';
import { JwksCacheEntry } from '../../../../../src/token-exchange/trust/jwks/jwks-cache-entry.js';
import type { JwksEntry } from '../../../../../src/token-exchange/trust/trusted-key.js';

const NOW = Date.UTC(2031, 4, 1, 9);
const HOUR_MS = 3_600_000;
const ENTRY = { url: 'https://partner.example/keys', label: 'partner', issuer: 'https://partner.example' };

function fetchedAt(ms: number, consecutiveFailures = 0): JwksCacheEntry {
  const cached = new JwksCacheEntry(ENTRY as JwksEntry, 0, SILENT);
  const at = new Date(ms);
  cached.apply({
    ...cached.snapshot,
    lastSuccessAt: consecutiveFailures > 0 ? new Date(NOW + HOUR_MS) : at,
    keySet: '{"keys":[]}',
    lastFailureAt: consecutiveFailures > 0 ? at : null,
    consecutiveFailures,
    nextRefreshAt: new Date(ms + HOUR_MS),
  });
  return cached;
}

describe('[D97] a fetched key set', () => {
  it('[D97] is due at its time, and not before', () => {
    expect(fetchedAt(NOW).isDue(NOW + HOUR_MS - 1)).toBe(false);
    expect(fetchedAt(NOW).isDue(NOW + HOUR_MS)).toBe(true);
  });

  it('[D97] is due at once if the clock was set back by an hour, but not by the allowed difference', () => {
    expect(fetchedAt(NOW).isDue(NOW - HOUR_MS)).toBe(true);
    expect(fetchedAt(NOW).isDue(NOW - 60_000)).toBe(false);
  });

  it('[D97] is not fetched every second if that fetch has failed', () => {
    expect(fetchedAt(NOW, 1).isDue(NOW + 1_000)).toBe(false);
  });
});
