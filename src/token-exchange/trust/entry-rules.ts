// What the host and its configuration say for the reader of trusted key entries, and which addresses of key sets an entry may name.
import { mayMean } from '../../platform/text/uri.js';
import { parsedUrl } from '../../platform/text/url.js';

/**
 * What stands where an entry says nothing. `contract`: as the contract says, open where it is. `stored`: for entries that a command
 * created, which let no owner in. `strict`: only what an entry says is allowed.
 */
export type PolicyDefaults = 'contract' | 'stored' | 'strict';

/** The names of settings, for messages, that widen what may be fetched. */
export interface JwksSettingNames {
  readonly allowHttp: string;
  readonly allowPrivate: string;
}

/** As the options of the module are called. */
export const JWKS_SETTING_NAMES: JwksSettingNames = {
  allowHttp: 'jwks.allowHttp',
  allowPrivate: 'jwks.allowPrivate',
};

export interface TrustedKeysRules {
  /** Roles that a claim can assign at all. */
  readonly assignableRoles: readonly string[];
  /** Roles in a project, the lowest first; undefined: the host has no projects that tokens could name. */
  readonly projectRoles?: readonly string[];
  /** Roles whose users are administrators (D54). */
  readonly privilegedRoles?: readonly string[];
  /** The type of the ids of users, as far as it is checked. */
  readonly userIdType?: string;
  /** Default `contract`. */
  readonly defaults?: PolicyDefaults;
  /** The address of the host itself, for which every token is good that names no other service. */
  readonly baseUrl?: string;
  /** The `iss` of the host's own access tokens, which no entry may have. Default `baseUrl`; not checked where both are left out. */
  readonly ownIssuer?: string;
  /** Scopes that the host's own API asks for; others are for other services. Not checked where it is left out. */
  readonly scopes?: readonly string[];
  /** Whether `http:` JWKS addresses are allowed (D33). */
  readonly allowHttp: boolean;
  /** CIDR ranges that are not public and yet allowed (D33). Addresses are not checked where it is left out: a fetch does it. */
  readonly allowPrivate?: readonly string[];
  /** What messages call the two settings of JWKS addresses. Default: as the options of the module are called. */
  readonly jwksSettingNames?: JwksSettingNames;
}

/** Whether an issuer is the host itself. */
export function isOwnIssuer(issuer: string, { baseUrl, ownIssuer = baseUrl }: TrustedKeysRules): boolean {
  return ownIssuer !== undefined && mayMean(issuer, ownIssuer);
}

/** What is wrong with the address of a key set, as a clause; undefined: nothing. */
export function urlFault(text: string, rules: TrustedKeysRules): string | undefined {
  const { allowHttp, jwksSettingNames: names = JWKS_SETTING_NAMES } = rules;
  const url = parsedUrl(text);
  const isHttp = url?.protocol === 'http:';
  if (url === undefined || (url.protocol !== 'https:' && !(allowHttp && isHttp)))
    return `must be an https: URL${isHttp ? `; ${names.allowHttp} allows http:, for tests and demonstrations only` : ''}`;
  if (url.username !== '' || url.password !== '') return 'must not hold a user name or password';
  return undefined;
}
