// Which addresses of key sets an entry may name.
import { parsedUrl } from '../../platform/text/url.js';

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

export interface JwksUrlRules {
  /** Whether `http:` JWKS addresses are allowed (D33). */
  readonly allowHttp: boolean;
  /** What messages call the settings of JWKS addresses. Default: as the options of the module are called. */
  readonly jwksSettingNames?: JwksSettingNames;
}

/** What is wrong with the address of a key set, as a clause; undefined: nothing. */
export function urlFault(text: string, rules: JwksUrlRules): string | undefined {
  const url = parsedUrl(text);
  const isHttp = url?.protocol === 'http:';
  if (url === undefined || (url.protocol !== 'https:' && !(rules.allowHttp && isHttp)))
    return `must be an https: URL${isHttp ? httpHint(rules) : ''}`;
  if (url.username !== '' || url.password !== '') return 'must not hold a user name or password';
  return undefined;
}

function httpHint({ jwksSettingNames: { allowHttp } = JWKS_SETTING_NAMES }: JwksUrlRules): string {
  return `; ${allowHttp} allows http:, for tests and demonstrations only`;
}
