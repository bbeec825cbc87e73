// Checks how long a leader believes in its leadership without news from the database.
import { LEASE_MS } from '../../../../src/token-exchange/coordination/leader-lease.repository.js';
import { LeaderTenure } from '../../../../src/token-exchange/coordination/leader-tenure.js';

describe("[D36] a leader's belief", () => {
  const start = { monotonicMs: 5_000, wallMs: 1_800_000_000_000 };
  const after = (monotonicMs: number, wallMs = monotonicMs) => ({
    monotonicMs: start.monotonicMs + monotonicMs,
    wallMs: start.wallMs + wallMs,
  });
  const begin = () => new LeaderTenure('7', start, true);

  it('[D36] ends before the lease does', () => {
    const tenure = begin();
    expect(tenure.isCertain(after(7_999))).toBe(true);
    expect(tenure.isCertain(after(8_000))).toBe(false);
    expect(LEASE_MS).toBeGreaterThan(8_000);
  });

  it('[D36] lasts from the sending of the renewal, not from its answer', () => {
    const tenure = begin();
    tenure.renewed(after(3_000));
    expect(tenure.isCertain(after(10_999))).toBe(true);
    expect(tenure.isCertain(after(11_000))).toBe(false);
  });

  it('[D36] ends on a machine that was suspended, where the monotonic clock stood still', () => {
    expect(begin().isCertain(after(10, 60_000))).toBe(false);
  });

  it('[D36] is not prolonged by a clock that is set back', () => {
    expect(begin().isCertain(after(8_000, -3_600_000))).toBe(false);
    expect(begin().isCertain(after(1_000, -3_600_000))).toBe(true);
  });
});
