// How often the metrics are written, however many ask for them.
import { Metrics } from '../../../src/metrics/metrics.js';

describe('[D91] the text of the metrics', () => {
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'performance'] }));
  afterEach(() => jest.useRealTimers());

  it('is written once for all who ask within a second, and then anew', async () => {
    const metrics = new Metrics();
    let written = 0;
    metrics.watchRequests(() => (written += 1));
    const together = await Promise.all([metrics.sharedText(), metrics.sharedText()]);
    jest.advanceTimersByTime(999);
    const later = await metrics.sharedText();
    expect([written, new Set([...together, later]).size]).toEqual([1, 1]);
    jest.advanceTimersByTime(1);
    expect(await metrics.sharedText()).toContain('svc_requests_in_progress 2');
  });
});
