// Reads a token's id and role under the names of its identity provider.
import { hash } from 'node:crypto';
import { kindOf, printable, printableList } from '../../platform/text/printable.js';
import { OAuthRefusal } from '../refusals/oauth-refusal.js';
import type { ClaimSet } from '../trust/claim-names.js';
import type { TrustPolicy } from '../trust/trusted-key.js';
import type { CompactJws } from './compact-jws.js';
import type { TokenCheck } from './check-runner.js';

type RolePolicy = Pick<TrustPolicy, 'roleClaim' | 'roleMap'>;

/**
 * The claims of a token with `jti` and `role` under this service's names.
 * @throws OAuthRefusal `claims_invalid` if the role claim has the wrong type
 */
export function withOwnNames(
  jws: Pick<CompactJws, 'payload' | 'signingInput'>,
  policy: RolePolicy & Pick<TrustPolicy, 'uniqueId'>,
): ClaimSet {
  const { uniqueId, roleClaim, roleMap } = policy;
  if (uniqueId === undefined && roleClaim === undefined && roleMap === undefined) return jws.payload;
  return { ...jws.payload, jti: idOf(jws, uniqueId), role: roleOf(jws.payload, policy) };
}

/**
 * The id depends on the token alone: the entry only says what may be missing. So a used token stays used if its entry changes. The
 * signature is not part of the hash, because an ECDSA signature can be changed without becoming invalid.
 * @rule P.uniqueId A token without `jti` is accepted once by its `uti` or its hash, if the entry says so.
 */
function idOf(
  { payload: { jti, uti }, signingInput }: Pick<CompactJws, 'payload' | 'signingInput'>,
  uniqueId: TrustPolicy['uniqueId'] = 'jti',
): unknown {
  if (jti !== undefined || uniqueId === 'jti') return jti;
  if (uti !== undefined || uniqueId === 'uti') return uti;
  return hash('sha256', signingInput, 'base64url');
}

/** @rule P.roleClaim = P.roleMap The entry names the claim of the role, and which role each of its values means. */
function roleOf(payload: ClaimSet, policy: RolePolicy): string | undefined {
  const { roleClaim = 'role', roleMap } = policy;
  const values = rolesIn(payload, policy);
  if (roleMap === undefined) {
    if (values.length <= 1) return values[0];
    throw invalid(`${printable(roleClaim)} must have one value, since the entry has no roleMap`);
  }
  const claimed = new Set(values);
  return [...roleMap].find(([value]) => claimed.has(value))?.[1];
}

function rolesIn(
  payload: Readonly<Record<string, unknown>>,
  { roleClaim = 'role' }: RolePolicy,
): readonly string[] {
  const value = payload[roleClaim];
  if (value === undefined) return [];
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (values.every((one) => typeof one === 'string')) return values;
  throw invalid(`${printable(roleClaim)} must be a string or an array of strings: found ${kindOf(value)}`);
}

/** Under the strict policy an unmapped role is a mistake, not a missing claim. */
export const MAPPED_ROLE: TokenCheck = {
  check: 'claims',
  about: 'roleMap',
  reason: 'role_not_recognized',
  fails: ({ jws: { payload }, key: { policy }, rules }) =>
    rules.isStrict &&
    policy.roleMap !== undefined &&
    rolesIn(payload, policy).length > 0 &&
    roleOf(payload, policy) === undefined,
  compared: ({ jws: { payload }, key: { policy } }) => [
    policy.roleMap === undefined ? 'any' : `one of ${printableList(policy.roleMap.keys())}`,
    policy.roleMap === undefined ? 'not mapped' : printableList(rolesIn(payload, policy)),
  ],
};

function invalid(detail: string): OAuthRefusal {
  return new OAuthRefusal('claims_invalid', { detail });
}
