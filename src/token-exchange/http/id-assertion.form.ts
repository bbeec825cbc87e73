// Reads the form by which a client redeems an identity assertion (RFC 7523 §2.1).
import type { SentAssertion } from '../flows/id-assertion.service.js';
import { readClientCredentials } from './client-credentials.js';
import { trimmed, wellFormed, FlowRefusal } from './flow-refusal.js';
import type { Form } from './form.js';
import { readAskedGrants } from './token-exchange.form.js';

/** RFC 7523 §2.1. */
export const JWT_BEARER_GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
/** draft-ietf-oauth-identity-assertion-authz-grant §7.2. */
export const ID_JAG_PROFILE = 'urn:ietf:params:oauth:grant-profile:id-jag';

/**
 * Every field that is not known is ignored.
 * @param authorization the header of that name
 * @throws FlowRefusal `field_invalid`
 * @throws Rejection `client_credential_invalid`
 */
export function readIdAssertionForm(form: Form, authorization: string | undefined): SentAssertion {
  const asked = readAskedGrants(wellFormed(form));
  const assertion = trimmed(form, 'assertion');
  if (assertion === '') throw new FlowRefusal('field_invalid', 'assertion is required');
  return { assertion, ...asked, client: readClientCredentials(form, authorization) };
}
