// Logout tokens of a partner or its provider, well-formed unless a test says otherwise (OpenID Connect Back-Channel Logout 1.0 §2.4).
import type { Members, Partner } from '../../demo/partner.js';

export const LOGOUT_PATH = '/rest/auth/backchannel-logout';
export const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout';

/** @param members `sub` or `sid` at least */
export function logoutToken(partner: Partner, members: Members, header: Members = {}): string {
  const person = { sub: undefined, email: undefined, given_name: undefined, family_name: undefined };
  const claims = partner.claims({ ...person, events: { [LOGOUT_EVENT]: {} }, ...members });
  return partner.sign(claims, { typ: 'logout+jwt', ...header });
}
