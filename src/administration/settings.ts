// The configuration that operations need. It is read on demand, so that a command works even if other
// settings are invalid.
import type { ExplanationRules, StoredEntriesRules, Transmitter } from '../token-exchange/instance.js';

export abstract class AdministrationSettings {
  /** The configured entries, and the rules for stored ones. @throws ConfigurationError */
  abstract get trust(): StoredEntriesRules;

  /** The variable, and the file if there is one, with the configured entries. */
  abstract get configuredIn(): string;

  /** The transmitters of security events. @throws ConfigurationError */
  abstract get transmitters(): readonly Transmitter[];

  /** The rules for tokens that the service receives. @throws ConfigurationError */
  abstract explanationRules(): Promise<ExplanationRules>;
}
