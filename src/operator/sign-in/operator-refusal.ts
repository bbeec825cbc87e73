// Why a call of the operator's API is refused, before it is done.
import { CommandError } from '../../administration/command-error.js';

export type OperatorRefusalWord =
  /** There is no session, or it has ended. */
  | 'sign_in_required'
  /** An access token, or the session of an embedded login, was presented: neither opens anything here. */
  | 'operator_session_required'
  | 'csrf_refused'
  | 'invalid_credentials'
  | 'invalid_code'
  | 'bad_request'
  | 'not_found'
  | 'unavailable';

/** In the trail it is a refusal, as that of a command. */
export class OperatorRefusal extends CommandError {
  override readonly name = 'OperatorRefusal';

  /** @param detail what is answered beyond the word's own text; never a value that was sent or stored */
  constructor(
    readonly word: OperatorRefusalWord,
    readonly detail?: string,
  ) {
    super(detail ?? word);
  }
}
