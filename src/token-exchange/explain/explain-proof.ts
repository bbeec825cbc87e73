// The checks of a partner's question about a refusal: a JWT signed with a key of an entry.
import { printable, printableList } from '../../platform/text/printable.js';
import type { CheckedToken, TokenCheck } from '../verify/check-runner.js';
import type { ExplainClaims } from '../verify/external-claims.js';
import { isAloneFor, readExplainClaims } from '../verify/external-claims.js';
import * as checks from '../verify/token-checks.js';

/** The `typ` of a proof, which no other token has. */
const EXPLAIN_TYPE = 'explain+jwt';

/** A proof is signed by a key of a trusted entry, for this endpoint alone, and at most 60 seconds old. */
export const EXPLAIN_CHECKS: readonly TokenCheck<CheckedToken<ExplainClaims>>[] = [
  checks.FORM,
  checks.KID,
  checks.ALGORITHM,
  checks.NO_CRIT,
  checks.NO_B64,
  checks.purpose(EXPLAIN_TYPE, (typ) => typ === EXPLAIN_TYPE),
  checks.ISSUER,
  checks.KNOWN_ISSUER,
  checks.USABLE_KEY_SET,
  checks.KNOWN_KEY,
  checks.KEY_ALGORITHM,
  checks.SIGNATURE,
  checks.NOT_SUSPENDED,
  checks.TRUST_NOT_ENDED,
  {
    about: 'its claims',
    // Or `claims_not_storable`.
    reason: 'claims_invalid',
    isNeeded: true,
    read: (token) => void (token.claims = readExplainClaims(token.jws.payload)),
    compared: () => ['iss, aud, iat, jti and request_id, each of its type', 'all of them'],
  },
  {
    about: 'aud',
    reason: 'audience_mismatch',
    fails: ({ claims: { aud }, rules: { explainEndpoint } }) => !isAloneFor(aud, explainEndpoint),
    compared: ({ claims: { aud }, rules: { explainEndpoint } }) => [
      `${printable(explainEndpoint)} alone`,
      printableList([aud].flat()),
    ],
  },
  checks.NOT_EXPIRED,
  checks.NOT_BEFORE,
  checks.NOT_FROM_FUTURE,
];
