// Which known name is thought of for a misspelt one.
import { similarName } from '../../../../src/platform/text/wording.js';

const KNOWN = ['allowedRoles', 'expectedAudience', 'issuer', 'kid', 'url', 'SVC_HOST', 'SVC_SSL_CERT_FILE'];

describe('[D32] a suggested name', () => {
  it.each([
    ['alowedRoles', 'allowedRoles'],
    ['allowRoles', 'allowedRoles'],
    ['allowed_roles', 'allowedRoles'],
    ['ALLOWEDROLES', 'allowedRoles'],
    ['expected_audience', 'expectedAudience'],
    ['isuser', undefined],
    ['kidd', 'kid'],
    ['uri', 'url'],
    ['SVC_HOSTS', 'SVC_HOST'],
    ['SVC_SSL_CERTFILE', 'SVC_SSL_CERT_FILE'],
    ['marker', undefined],
    ['x', undefined],
    ['', undefined],
    [`allowedRoles${'s'.repeat(100)}`, undefined],
  ])('for %j is %j', (name, meant) => expect(similarName(name, KNOWN)).toBe(meant));

  it('is missing if nothing is known', () => expect(similarName('kid', [])).toBeUndefined());
});
