// What commands know of the configuration of the instance that they work on: read only where a command needs it.
import type { InstanceSettings } from '../administration/instance-parts.js';
import { VARIABLES } from '../config/environment.js';
import { License, LicenseError, readLicense } from '../config/license.js';
import type { Config } from '../config/load-config.js';
import { explainerOf } from '../instance/ports/instance-explainer.js';
import { QUOTA_VARIABLES, quotaLimits } from '../instance/startup.js';
import { explanationRules } from '../instance/token-exchange-settings.js';
import type { ExplanationRules } from '../token-exchange/explain/index.js';
import type { Clock } from '../platform/clock.js';
import type { CommandContext } from './command-settings.js';
import { storedEntriesRulesOf } from './configured-keys.js';

export function instanceSettings(context: CommandContext): InstanceSettings {
  return {
    get trust() {
      return storedEntriesRulesOf(context);
    },
    get configuredIn() {
      return context.settings.labelOf(VARIABLES.trustedKeys);
    },
    get limits() {
      return quotaLimits(context.settings.read(...QUOTA_VARIABLES));
    },
    explain: explainerOf((clock) => rulesOf(context, clock)),
  };
}

/** As the service would check that is started with the same variables. */
async function rulesOf(context: CommandContext, clock: Clock): Promise<ExplanationRules> {
  const { featureFlag, license, licensePublicKey, embedLoginEnabled, exchangeEnabled } = VARIABLES;
  const { maxTokenLifetimeSeconds, clockToleranceSeconds, strict, baseUrl, port, tlsCertificate } = VARIABLES;
  const { keyRefreshIntervalSeconds, jwksMaxStaleSeconds, jwksAllowHttp, jwksAllowPrivate } = VARIABLES;
  const { sessionLifetimeSeconds, idAssertionEnabled, idAssertionMaxLifetimeSeconds } = VARIABLES;
  const config = context.settings.read(
    ...[featureFlag, license, licensePublicKey, embedLoginEnabled, exchangeEnabled],
    ...[idAssertionEnabled, idAssertionMaxLifetimeSeconds],
    ...[maxTokenLifetimeSeconds, clockToleranceSeconds, strict, baseUrl, port, tlsCertificate],
    ...[
      keyRefreshIntervalSeconds,
      jwksMaxStaleSeconds,
      jwksAllowHttp,
      jwksAllowPrivate,
      sessionLifetimeSeconds,
    ],
  );
  const trustedKeys = storedEntriesRulesOf(context).configured;
  // Where each value came from is of no matter here.
  const given = new Map();
  return explanationRules({ config, given, trustedKeys, license: await licenseOf(config) }, clock);
}

/** A service does not start with one that cannot be read. */
async function licenseOf({ license, licensePublicKey }: Config): Promise<License> {
  if (license === undefined || licensePublicKey === undefined) return License.NONE;
  try {
    return await readLicense(license, licensePublicKey);
  } catch (error) {
    if (error instanceof LicenseError) return License.NONE;
    throw error;
  }
}
