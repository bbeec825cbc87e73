// Judges where an embedded login was posted from, by the `Origin` that browsers send with it.
import { originOfText } from '../../config/origin.js';
import type { TrustPolicy } from '../keys/trusted-key.js';
import { Rejection } from '../rejection.js';

/**
 * Refuses a login that a page of a foreign origin has posted, where the entry names its origins: nobody else's page
 * shall sign a visitor in (login CSRF). Without the header the login does not come from a page's form, or by GET.
 * @rule P.origins Where an entry names origins, a login from another one is refused.
 * @param header the `Origin` of the request; `null`, which pages without referrer send, is listed nowhere
 * @throws Rejection `origin_not_allowed`
 */
export function refuseForeignOrigin({ origins }: TrustPolicy, header: string | undefined): void {
  if (origins === undefined || header === undefined || origins.has(header)) return;
  throw new Rejection('origin_not_allowed');
}

/** The origin that the page in the frame may talk to, if a browser named one. */
export function hostOriginOf(header: string | undefined): string | undefined {
  return header === undefined ? undefined : originOfText(header);
}
