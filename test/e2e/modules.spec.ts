// What must exist once in the instance exists once, though several modules use it: a second leader or second revocations would go unnoticed.
import { ModulesContainer } from '@nestjs/core';
import { Administration } from '../../src/administration/administration.js';
import { AuditStreaming } from '../../src/audit/sinks/audit-streaming.js';
import { Metrics } from '../../src/metrics/metrics.js';
import { DatabaseOutages } from '../../src/platform/http/database-outages.js';
import { CountingStorage } from '../../src/platform/http/throttle/counting.storage.js';
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
  CountingStorage,
  DatabaseOutages,
  DpopProofs,
  KeyRing,
  Leader,
  Metrics,
  Notifications,
  RevocationFollower,
  Revocations,
  SessionService,
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
      const instances = new Set(all.map(({ instance }) => instance).filter((one) => one instanceof type));
      expect(instances.size).toBe(1);
    });
  });
});
