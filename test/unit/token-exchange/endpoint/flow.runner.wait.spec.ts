// How long a request may wait for the database.
import { RequestState } from '../../../../src/platform/http/http-messages.js';
import { FlowRequest } from '../../../../src/token-exchange/endpoint/flow.runner.js';
import { SilentTelemetry } from '../../../../src/token-exchange/host/telemetry.js';

const RECEIVED = { flow: 'exchange', requestId: 'r', clientAddress: 'c', arrivedAtMs: 0 } as const;
const requestOf = (leftMs: number) =>
  new FlowRequest({ ...RECEIVED, leftMs, state: new RequestState() }, new SilentTelemetry());
const within = (ms: number) => () => new Promise((resolve) => setTimeout(() => resolve('done'), ms));

it('[D49] all database work of a request shares one limit', async () => {
  const request = requestOf(60_000);
  expect([await request.inTime(within(1)), await request.inTime(within(1))]).toEqual(['done', 'done']);
  const late = requestOf(20);
  await expect(late.inTime(() => new Promise(() => undefined))).rejects.toThrow('time_limit');
  await expect(late.inTime(within(100))).rejects.toThrow('time_limit');
});

it('[D49] a request that is already answered starts no further step', async () => {
  const request = requestOf(20);
  let outcome: Promise<unknown> = Promise.resolve();
  const work = () => (outcome = within(50)().then(() => request.stage('record', within(1))));
  await expect(request.inTime(work)).rejects.toThrow('time_limit');
  await expect(outcome).rejects.toThrow('time_limit');
});
