// Reads what an access token says, as a service that it was made for would.
import { decodeJwt } from 'jose';
import type { Members } from '../../../demo/partner.js';

/** Who issued it is checked elsewhere. */
export function claimsOfAccessToken(token: string): Members {
  return decodeJwt(token);
}

/** The answer to a successful exchange. */
export interface Issued {
  access_token: string;
  scope?: string;
}
