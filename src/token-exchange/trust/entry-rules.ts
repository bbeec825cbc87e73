// The host's rules for trusted key entries, and the allowed addresses of key sets.
import { mayMean } from '../../platform/text/uri.js';
import { parsedUrl } from '../../platform/text/url.js';

/**
 * The defaults of absent properties. `contract`: as the contract says. `stored`: for stored entries, which exclude the owner.
 * `strict`: nothing is allowed that the entry does not say.
 */
export type PolicyDefaults = 'contract' | 'stored' | 'strict';

/** The names, for messages, of the settings that allow more addresses. */
export interface JwksSettingNames {
  readonly allowHttp: string;
  readonly allowPrivate: string;
}

export const JWKS_SETTING_NAMES: JwksSettingNames = {
  allowHttp: 'jwks.allowHttp',
  allowPrivate: 'jwks.allowPrivate',
};

export interface TrustedKeysRules {
  readonly assignableRoles: readonly string[];
  /** Roles in a project, the lowest first; undefined: the host has no projects that tokens could name. */
  readonly projectRoles?: readonly string[];
  /** Roles whose users are administrators (D54). */
  readonly privilegedRoles?: readonly string[];
  /** The type of users' ids, if it is checked. */
  readonly userIdType?: string;
  /** Default `contract`. */
  readonly defaults?: PolicyDefaults;
  /** The host's own address, the audience of tokens that name no other service. */
  readonly baseUrl?: string;
  /** The `iss` of the host's own access tokens, which no entry may have. Default `baseUrl`; not checked if both are absent. */
  readonly ownIssuer?: string;
  /** Scopes of the host's own API; others are for other services. Not checked if absent. */
  readonly scopes?: readonly string[];
  /** Whether `http:` JWKS addresses are allowed (D33). */
  readonly allowHttp: boolean;
  /** Allowed CIDR ranges that are not public (D33). If absent, only the fetch checks addresses. */
  readonly allowPrivate?: readonly string[];
  /** The names of the two JWKS settings for messages. Default: the module's options. */
  readonly jwksSettingNames?: JwksSettingNames;
}

/** Whether an issuer is the host itself. */
export function isOwnIssuer(issuer: string, { baseUrl, ownIssuer = baseUrl }: TrustedKeysRules): boolean {
  return ownIssuer !== undefined && mayMean(issuer, ownIssuer);
}

/** What is wrong with the address of a key set, as a clause; undefined if it is valid. */
export function urlFault(text: string, rules: TrustedKeysRules): string | undefined {
  const { allowHttp, jwksSettingNames: names = JWKS_SETTING_NAMES } = rules;
  const url = parsedUrl(text);
  const isHttp = url?.protocol === 'http:';
  if (url === undefined || (url.protocol !== 'https:' && !(allowHttp && isHttp)))
    return `must be an https: URL${isHttp ? `; ${names.allowHttp} allows http:, for tests and demonstrations only` : ''}`;
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or password';
  return undefined;
}
