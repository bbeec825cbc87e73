// How long a request may wait for the database, and what is measured of its stages.
import { FlowRequest } from '../../../../src/token-exchange/flows/flow-request.js';
import type { TracedStep } from '../../../../src/token-exchange/host/telemetry.js';
import { SilentTelemetry } from '../../../../src/token-exchange/host/telemetry.js';

/** A host's own: it keeps what it gets. */
class KeptTelemetry extends SilentTelemetry {
  readonly steps: TracedStep[] = [];
  readonly stages: unknown[][] = [];

  override traced<T>(step: TracedStep, work: () => Promise<T>): Promise<T> {
    this.steps.push(step);
    return super.traced(step, work);
  }

  override observeStage(...stage: unknown[]): void {
    this.stages.push(stage);
  }
}

const requestOf = (leftMs: number, telemetry = new KeptTelemetry()) =>
  new FlowRequest(
    {
      ...{ flow: 'exchange', requestId: 'r', clientAddress: 'c', arrivedAtMs: 0, leftMs },
      giveUpPlace: () => undefined,
    },
    telemetry,
  );
const within = (ms: number) => () => new Promise((resolve) => setTimeout(() => resolve('done'), ms));

it('[D49] all that a request asks of the database shares one limit', async () => {
  const request = requestOf(1_000);
  expect([await request.inTime(within(1)), await request.inTime(within(1))]).toEqual(['done', 'done']);
  const late = requestOf(20);
  await expect(late.inTime(() => new Promise(() => undefined))).rejects.toThrow('time_limit');
  await expect(late.inTime(within(100))).rejects.toThrow('time_limit');
});

it('[D92] a stage is traced and timed, also where it fails', async () => {
  const telemetry = new KeptTelemetry();
  const request = requestOf(60_000, telemetry);
  const startedAt = performance.now();
  expect(await request.stage('verify', within(20))).toBe('done');
  await expect(request.stage('commit', () => Promise.reject(new Error('refused')))).rejects.toThrow(
    'refused',
  );
  const tookSeconds = (performance.now() - startedAt) / 1000;
  const steps = ['verify', 'commit'].map((name) => ({ name, flow: 'exchange' }));
  expect(telemetry.steps).toEqual(steps);
  const [verified, committed] = telemetry.stages.map(([flow, stage, seconds]) => {
    expect(steps).toContainEqual({ name: stage, flow });
    return Number(seconds);
  }) as [number, number];
  expect(verified).toBeGreaterThan(0.015);
  expect(committed).toBeGreaterThanOrEqual(0);
  expect(verified + committed).toBeLessThanOrEqual(tookSeconds);
});
