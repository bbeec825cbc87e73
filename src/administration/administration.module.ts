// Runs administrative operations in the running service, for commands from its socket and for the operator's
// page.
import { Inject, Injectable, Module } from '@nestjs/common';
import { AccessModule } from '../access/access.module.js';
import { VARIABLES } from '../config/environment.js';
import { labelOf } from '../config/load-config.js';
import type { Startup } from '../config/startup.js';
import { STARTUP } from '../config/startup.js';
import { trustedKeysRules } from '../instance/prepare-startup.js';
import { explanationRules } from '../instance/token-exchange-settings.js';
import { Clock } from '../platform/clock.js';
import type { ExplanationRules, StoredEntriesRules, Transmitter } from '../token-exchange/instance.js';
import { UsersModule } from '../users/users.module.js';
import { ADMINISTRATION_PROVIDERS } from './administration.providers.js';
import { AdministrationSettings } from './settings.js';

@Injectable()
class ServiceSettings extends AdministrationSettings {
  readonly trust: StoredEntriesRules;
  readonly configuredIn: string;
  readonly transmitters: readonly Transmitter[];
  private readonly explanation: ExplanationRules;

  constructor(@Inject(STARTUP) startup: Startup, clock: Clock) {
    super();
    this.trust = { configured: startup.trustedKeys, rules: trustedKeysRules(startup.config) };
    this.configuredIn = labelOf(VARIABLES.trustedKeys, startup.given);
    this.transmitters = startup.config.transmitters;
    this.explanation = explanationRules(startup, clock);
  }

  explanationRules(): Promise<ExplanationRules> {
    return Promise.resolve(this.explanation);
  }
}

@Module({
  imports: [AccessModule, UsersModule],
  providers: [...ADMINISTRATION_PROVIDERS, { provide: AdministrationSettings, useClass: ServiceSettings }],
  exports: [...ADMINISTRATION_PROVIDERS],
})
export class AdministrationModule {}
