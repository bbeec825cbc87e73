// The properties of a trusted key entry for tokens of an identity provider, with the provider's claim names.
import { isJsonObject } from '../../platform/json/strict-json.js';
import { CLAIM_NAMES } from '../trust/claim-names.js';
import type { Row } from '../trust/entry-kinds.js';
import { choice, Fault, isText, text } from '../trust/entry-kinds.js';

/** The `typ` of access tokens (RFC 9068 §2.1). */
export const ACCESS_TOKEN_TYPE = 'at+jwt';

const MAX_MAPPED = 100;
const TAKEN: ReadonlySet<string> = new Set(CLAIM_NAMES.filter((name) => name !== 'role'));
const MAP_RULE = `must be an object of 1 to ${MAX_MAPPED} values of the claim, each with a role`;

/** Properties that decide who may sign in. */
export const PROVIDER_TOKENS = {
  typ: choice([ACCESS_TOKEN_TYPE], {
    label: 'Type of tokens',
    rule: '`at+jwt` accepts only access tokens (RFC 9068)',
    unsaid: '`JWT`, or none',
    prevents: 'an ID token for another program signs in here',
    words: (typ) => typ && 'only tokens of the type at+jwt',
  }),
  uniqueId: choice(['jti', 'uti', 'token-hash'], {
    label: 'Id of a token that has no `jti`',
    rule: 'what identifies tokens without `jti`: `uti` (Entra ID) or `token-hash`',
    open: 'jti',
    words: (id) => (id === undefined || id === 'jti' ? undefined : `once by ${id}, if there is no jti`),
  }),
};

const roleMap: Row<ReadonlyMap<string, string>> = {
  kind: 'structure',
  label: 'Roles by the values of the claim',
  rule: 'roles by values of the role claim: `{"Admins": "global:admin"}`. The first match applies. Other values are ignored, or refused by the strict policy',
  unsaid: 'the claim names the role',
  read(given, { assignableRoles }) {
    const entries = isJsonObject(given) ? Object.entries(given) : [];
    if (entries.length === 0 || entries.length > MAX_MAPPED || !entries.every(isMapped))
      return new Fault(MAP_RULE);
    // JavaScript moves integer keys to the front.
    if (entries.some(([value]) => /^(0|[1-9]\d*)$/.test(value)))
      return new Fault('must not have a whole number as a value of the claim, since its order is not kept');
    if (!entries.every(([, role]) => assignableRoles.includes(role)))
      return new Fault(`must map to roles that can be assigned: ${assignableRoles.join(', ')}`);
    return new Map(entries);
  },
  words: (map) => map && `takes roles from ${[...map.keys()].join(', ')}`,
};

/** Properties about roles. */
export const PROVIDER_ROLES = {
  roleClaim: text(
    {
      label: 'Name of the role claim',
      rule: 'claim with the role: a string, or an array of strings with a role map',
      open: 'role',
      words: (name) => name && `takes roles from the claim ${name}`,
    },
    (name) => (TAKEN.has(name) ? new Fault('must not be a claim that has a meaning already') : name),
  ),
  roleMap,
};

function isMapped(entry: [string, unknown]): entry is [string, string] {
  return isText(entry[0]) && isText(entry[1]);
}
