// What operations need of the configuration. They ask when they need it, so that a command works whatever is wrong with other settings.
import type { ExplanationRules, StoredEntriesRules } from '../token-exchange/instance.js';

export abstract class AdministrationSettings {
  /** The configured entries, and the rules for stored ones. @throws ConfigurationError */
  abstract get trust(): StoredEntriesRules;

  /** The variable, and the file, in which the configured entries are. */
  abstract get configuredIn(): string;

  /** What decides about the tokens that the service is sent. @throws ConfigurationError */
  abstract explanationRules(): Promise<ExplanationRules>;
}
