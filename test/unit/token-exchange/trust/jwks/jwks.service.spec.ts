// How soon an instance sees another instance's key sets without notifications.
import { Clock } from '../../../../../src/platform/clock.js';
import { SILENT } from '../../../../../src/platform/log/log.js';
import { SilentTelemetry } from '../../../../../src/token-exchange/host/telemetry.js';
import type { JwksSettings } from '../../../../../src/token-exchange/settings/token-exchange.options.js';
import { JwksService } from '../../../../../src/token-exchange/trust/jwks/jwks.service.js';
import type { JwksSnapshotRepository } from '../../../../../src/token-exchange/trust/jwks/jwks-snapshot.repository.js';
import type { JwksEntry } from '../../../../../src/token-exchange/trust/trusted-key.js';
import { DEAF } from '../../../../support/deaf-notifications.js';

afterEach(() => jest.useRealTimers());

it('[D36] an instance that is not the leader looks for snapshots every five seconds', async () => {
  jest.useFakeTimers();
  const findChanged = jest.fn(() => Promise.resolve([]));
  const jwks: JwksSettings = {
    refreshIntervalSeconds: 3_600,
    maxStaleSeconds: 0,
    allowHttp: false,
    allowPrivate: [],
  };
  const entry = { type: 'jwks', url: 'https://a.example/keys', label: 'a' } as JwksEntry;
  const service = new JwksService(
    { jwks },
    { findChanged } as unknown as JwksSnapshotRepository,
    DEAF,
    { isLeader: false },
    new Clock(),
    SILENT,
    new SilentTelemetry(),
  );
  service.provide([entry]);
  await service.onApplicationBootstrap();
  await jest.advanceTimersByTimeAsync(4_999);
  expect(findChanged).toHaveBeenCalledTimes(1);
  await jest.advanceTimersByTimeAsync(1);
  expect(findChanged).toHaveBeenCalledTimes(2);
});
