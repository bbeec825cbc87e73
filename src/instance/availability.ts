// Why token exchange is unavailable: a code for programs, and a sentence for the operator.
import { VARIABLES } from '../config/environment.js';
import { License } from '../config/license.js';
import type { Startup } from '../config/startup.js';

/** Why both endpoints return 404. */
export type UnavailableReason =
  'flag_off' | 'flag_not_true' | 'no_license' | 'feature_not_licensed' | 'license_ended';

/** The public reason, which reveals neither the configuration nor other licensed features. */
type PublicReason = 'not_enabled' | 'not_licensed' | 'license_ended' | 'restart_needed';

export type AvailabilitySettings = Pick<Startup, 'config' | 'given' | 'license'>;

export const PUBLIC_REASONS: Record<UnavailableReason, PublicReason> = {
  flag_off: 'not_enabled',
  flag_not_true: 'not_enabled',
  no_license: 'not_licensed',
  feature_not_licensed: 'not_licensed',
  license_ended: 'license_ended',
};

/**
 * The first missing condition; undefined if token exchange should be available. See availability.reporter.ts
 * for the log, and health.controller.ts for readiness.
 * @param nowMs milliseconds since the Unix epoch
 */
export function unavailableBecause(
  { config, given, license }: AvailabilitySettings,
  nowMs: number,
): UnavailableReason | undefined {
  if (!config.featureFlag) return flagRemark(given) === undefined ? 'flag_off' : 'flag_not_true';
  if (license === License.NONE) return 'no_license';
  if (!license.features.has('token-exchange')) return 'feature_not_licensed';
  return license.hasEnded(nowMs) ? 'license_ended' : undefined;
}

/** The end of token exchange, in milliseconds since the Unix epoch. While the process runs, only the licence's end can end it. */
export function offeredUntilMs(settings: AvailabilitySettings): number {
  const isOffered = unavailableBecause(settings, Number.NEGATIVE_INFINITY) === undefined;
  return isOffered ? settings.license.expiresAt.getTime() : Number.NEGATIVE_INFINITY;
}

/** The explanation for the operator. The features are from a licence with a valid signature. */
export function explanationOf(reason: UnavailableReason, { given, license }: AvailabilitySettings): string {
  const flag = VARIABLES.featureFlag.name;
  switch (reason) {
    case 'flag_off':
      return `${flag} is not set to true`;
    case 'flag_not_true':
      return `${flag} ${flagRemark(given) ?? ''}`;
    case 'no_license':
      return `there is no licence: set ${VARIABLES.license.name} or ${VARIABLES.license.name}_FILE`;
    case 'feature_not_licensed':
      return `the licence does not include token-exchange; it includes ${[...license.features].join(', ') || 'none at all'}`;
    case 'license_ended':
      return `the licence has ended: ${endOf(license)}`;
  }
}

/** A licence's expiry, formatted for people. */
export function endOf({ expiresAt }: License): string {
  return Number.isNaN(expiresAt.getTime()) ? 'at an invalid date' : expiresAt.toISOString();
}

function flagRemark(given: Startup['given']): string | undefined {
  return given.get(VARIABLES.featureFlag.name)?.remark;
}
