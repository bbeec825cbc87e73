// Reads the form by which somebody ends an access token (RFC 7009 §2.1).
import { trimmed, wellFormed } from './flow-form.js';
import { FlowRefusal } from './flow-refusal.js';
import { Form } from './form.js';

/**
 * The token; `token_type_hint` is of no help where there is one type, and every other field is ignored.
 * @throws FlowRefusal `token_missing` or `field_invalid`
 */
export function readTokenRevocationForm(encoded: Uint8Array): string {
  const token = trimmed(wellFormed(Form.read(encoded)), 'token');
  if (token === '') throw new FlowRefusal('token_missing', 'token is required');
  return token;
}
