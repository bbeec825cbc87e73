// Why token exchange is not there, for each of the reasons.
import { License } from '../../../src/config/license.js';
import { readConfig } from '../../../src/config/load-config.js';
import type { AvailabilitySettings } from '../../../src/instance/availability.js';
import { explanationOf, PUBLIC_REASONS, unavailableBecause } from '../../../src/instance/availability.js';

const END_MS = 1_800_000_000_000;
const licensed = (...features: string[]) => new License(new Set(features), new Date(END_MS));
const WHOLE = licensed('token-exchange', 'project-members');

function settings(flag: string | undefined, license: License): AvailabilitySettings {
  const { config, given } = readConfig([{ SVC_ENV_FEAT_TOKEN_EXCHANGE: flag }]);
  return { config, given, license };
}

describe('token exchange', () => {
  it.each([
    [undefined, WHOLE, 0, 'flag_off', 'not_enabled', 'SVC_ENV_FEAT_TOKEN_EXCHANGE is not set to true'],
    ...['True', '1', 'yes', 'true ', '"true"'].map(
      (flag) =>
        [
          flag,
          WHOLE,
          0,
          'flag_not_true',
          'not_enabled',
          'SVC_ENV_FEAT_TOKEN_EXCHANGE is set, but turns the feature on only as exactly true: in small letters, without quotes or blanks',
        ] as const,
    ),
    [
      'true',
      License.NONE,
      0,
      'no_license',
      'not_licensed',
      'there is no licence: set SVC_LICENSE or SVC_LICENSE_FILE',
    ],
    [
      'true',
      licensed('project-members', 'credentials-list'),
      0,
      'feature_not_licensed',
      'not_licensed',
      'the licence does not include token-exchange; it includes project-members, credentials-list',
    ],
    [
      'true',
      WHOLE,
      END_MS,
      'license_ended',
      'license_ended',
      'the licence has ended: 2027-01-15T08:00:00.000Z',
    ],
    [
      'true',
      new License(new Set(['token-exchange']), new Date(Number.NaN)),
      0,
      'license_ended',
      'license_ended',
      'the licence has ended: at an invalid date',
    ],
  ] as const)('is off with the flag %j: %#', (flag, license, nowMs, reason, word, explanation) => {
    const given = settings(flag, license);
    expect(unavailableBecause(given, nowMs)).toBe(reason);
    expect(PUBLIC_REASONS[reason]).toBe(word);
    expect(explanationOf(reason, given)).toBe(explanation);
    expect(explanation).not.toContain('marker');
  });

  it('is on before the licence ends', () => {
    expect(unavailableBecause(settings('true', WHOLE), END_MS - 1)).toBeUndefined();
  });
});
