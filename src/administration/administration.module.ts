// Performs administrative operations in the running service, for commands that come by its socket and for the operator's page.
import { Module } from '@nestjs/common';
import { AccessModule } from '../access/access.module.js';
import { PersonHashes } from '../audit/person-hashes.js';
import { VARIABLES } from '../config/environment.js';
import { labelOf } from '../config/load-config.js';
import type { Startup } from '../config/startup.js';
import { STARTUP } from '../config/startup.js';
import { explainerOf } from '../instance/instance-explainer.js';
import { trustedKeysRules } from '../instance/startup.js';
import { explanationRules } from '../instance/token-exchange-settings.js';
import { Clock } from '../platform/clock.js';
import { Database, OPERATOR_DATABASE } from '../platform/database/database.js';
import { AuditBus, RevocationFollower } from '../token-exchange/instance.js';
import { quotaLimits } from '../workspace/quotas/quotas.js';
import { Administration } from './administration.js';
import type { InstanceSettings } from './instance-parts.js';
import { instancePartsOn } from './instance-parts.js';

@Module({
  imports: [AccessModule],
  providers: [
    {
      provide: Administration,
      inject: [STARTUP, AuditBus, Clock, Database, OPERATOR_DATABASE, RevocationFollower, PersonHashes],
      useFactory: administrationOf,
    },
  ],
  exports: [Administration],
})
export class AdministrationModule {}

function administrationOf(
  startup: Startup,
  audit: AuditBus,
  clock: Clock,
  database: Database,
  operatorDatabase: Database,
  follower: RevocationFollower,
  personHashes: PersonHashes,
): Administration {
  const learnRevocations = () => follower.hear();
  const service = { operatorDatabase, learnRevocations };
  const settings = { ...settingsOf(startup, clock), personHashes };
  return new Administration(instancePartsOn(database, settings, clock, service), audit, clock);
}

function settingsOf(startup: Startup, clock: Clock): Omit<InstanceSettings, 'personHashes'> {
  const { config, trustedKeys, given } = startup;
  const rules = explanationRules(startup, clock);
  return {
    trust: { configured: trustedKeys, rules: trustedKeysRules(config) },
    configuredIn: labelOf(VARIABLES.trustedKeys, given),
    limits: quotaLimits(config),
    explain: explainerOf(() => Promise.resolve(rules)),
  };
}
