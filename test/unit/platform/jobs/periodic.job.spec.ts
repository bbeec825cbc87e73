// Checks when periodic work runs: on the leader, after each interval, at once after a takeover, never twice at a time.
import { AlwaysLeader, Leader } from '../../../../src/platform/jobs/leader.js';
import { PeriodicJob } from '../../../../src/platform/jobs/periodic.job.js';
import { createLogger } from '../../../../src/platform/log/logger.js';

/** A candidate that the test makes leader. */
class Candidate extends Leader {
  isLeader = false;
}

describe('[D36] a periodic job', () => {
  const logLines: string[] = [];
  const logger = createLogger('error', { write: (line) => void logLines.push(line) });
  let runs: number;
  let job: PeriodicJob;

  const startJob = (
    leader: Leader,
    run: () => Promise<void> = async () => undefined,
    intervalSeconds = 60,
  ) => {
    const countingRun = async () => {
      runs += 1;
      await run();
    };
    job = new PeriodicJob({ name: 'test', intervalSeconds, run: countingRun }, leader, logger);
    job.start();
  };
  const pass = (seconds: number) => jest.advanceTimersByTimeAsync(seconds * 1000);

  beforeEach(() => {
    jest.useFakeTimers();
    runs = 0;
    logLines.length = 0;
  });
  afterEach(async () => {
    await job.stop();
    jest.useRealTimers();
  });

  it.each([1, 2, 60, 300])('runs after each interval of %d s', async (intervalSeconds) => {
    startJob(new AlwaysLeader(), undefined, intervalSeconds);
    await pass(intervalSeconds - 0.75);
    expect(runs).toBe(0);
    await pass(0.75);
    expect(runs).toBe(1);
    await pass(intervalSeconds * 9);
    expect(runs).toBe(10);
  });

  it('[D36] runs within a second after its process becomes the leader, and then after each interval', async () => {
    const candidate = new Candidate();
    startJob(candidate);
    await pass(600);
    candidate.isLeader = true;
    await pass(1);
    expect(runs).toBe(1);
    await pass(59);
    expect(runs).toBe(1);
    await pass(1);
    expect(runs).toBe(2);
    candidate.isLeader = false;
    await pass(600);
    expect(runs).toBe(2);
  });

  it('never runs twice at once', async () => {
    let end: () => void = () => undefined;
    startJob(new AlwaysLeader(), () => new Promise((resolve) => (end = resolve)), 1);
    await pass(30);
    expect(runs).toBe(1);
    end();
    await pass(1);
    expect(runs).toBe(2);
    end();
  });

  it('runs again after a failed run, and logs the failure', async () => {
    startJob(new AlwaysLeader(), async () => {
      throw new Error('out of order');
    });
    await pass(120);
    expect(runs).toBe(2);
    expect(logLines.map((line) => JSON.parse(line).err.message)).toEqual(['out of order', 'out of order']);
  });

  it('waits for a run in progress when stopped, and starts none afterwards', async () => {
    let end: () => void = () => undefined;
    startJob(new AlwaysLeader(), () => new Promise((resolve) => (end = resolve)), 1);
    await pass(1);
    let stopped = false;
    const stopping = job.stop().then(() => (stopped = true));
    await pass(10);
    expect(stopped).toBe(false);
    end();
    await stopping;
    await pass(100);
    expect(runs).toBe(1);
  });
});
