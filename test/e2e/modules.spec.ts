// Single objects that several modules use. A second leader or a second set of revocations would not be noticed otherwise.
import { ModulesContainer } from '@nestjs/core';
import { Administration } from '../../src/administration/administration.js';
import { AuditStreaming } from '../../src/audit/sinks/audit-streaming.js';
import { Metrics } from '../../src/metrics/metrics.js';
import { DatabaseOutages } from '../../src/platform/http/database-outages.js';
import { THROTTLE_STORAGE } from '../../src/platform/http/throttle/rate-limit.js';
import { Leader } from '../../src/platform/jobs/leader.js';
import { Notifications } from '../../src/platform/jobs/notifications.js';
import { KeyRing } from '../../src/platform/secrets/key-ring.js';
import {
  AccessTokenService,
  ClockDifference,
  DpopProofs,
  RevocationFollower,
  Revocations,
  SessionService,
} from '../../src/token-exchange/instance.js';
import { UserRepository } from '../../src/users/user.repository.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { TestService } from '../support/test-service.js';

const ONCE = {
  AccessTokenService,
  Administration,
  AuditStreaming,
  ClockDifference,
  DatabaseOutages,
  DpopProofs,
  KeyRing,
  Leader,
  Metrics,
  Notifications,
  RevocationFollower,
  Revocations,
  SessionService,
  THROTTLE_STORAGE,
  UserRepository,
};

describeOnAnyDatabase('the instance', (database) => {
  describe.each(['true', 'false'])('with token exchange: %s', (flag) => {
    const service = TestService.forBlock(database, {
      environment: { SVC_ENV_FEAT_TOKEN_EXCHANGE: flag, SVC_ADMIN_ENABLED: 'true' },
    });

    it.each(Object.entries(ONCE))('has one %s', (_, type) => {
      const modules = [...service.part(ModulesContainer).values()];
      const all = modules.flatMap(({ providers }) => [...providers.values()]);
      const found = all.filter(({ token, instance }) =>
        typeof type === 'symbol' ? token === type : instance instanceof type,
      );
      const instances = new Set(found.map(({ instance }) => instance));
      expect(instances.size).toBe(1);
    });
  });
});
