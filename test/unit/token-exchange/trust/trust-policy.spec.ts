// What an entry leaves out, and what then holds.
import type { TrustPolicy } from '../../../../src/token-exchange/trust/trust-policy.js';
import { comparesAudience } from '../../../../src/token-exchange/trust/trust-policy.js';

it.each<[string, boolean, TrustPolicy['flows']]>([
  ['logins alone', true, new Set(['embed'])],
  ['exchanges alone', true, new Set(['exchange'])],
  ['all that is usual', true, undefined],
  // They are always for this instance.
  ['identity assertions alone', false, new Set(['id-jag'])],
])('an entry for %s has an audience to compare: %s', (_name, compares, flows) => {
  expect(comparesAudience({ flows })).toBe(compares);
});
