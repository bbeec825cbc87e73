// What both backends of the tests are told by their environment.
import type { PartnerOptions } from '@embedded-token-exchange/partner';

export function settings(): PartnerOptions {
  const { ISSUER = '', BASE_URL = '', KEY = '', KID = '' } = process.env;
  return { issuer: ISSUER, baseUrl: BASE_URL, key: { key: KEY, kid: KID } };
}
