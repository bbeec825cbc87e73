// Why a call of the operator's API is refused, before it is done.
import { CommandError } from '../../administration/command-error.js';
import { NOT_FOUND } from '../../platform/http/answers.js';

/** The word of each refusal, and how it is answered. */
export const REFUSAL_ANSWERS = {
  /** There is no session, or it has ended. */
  sign_in_required: { status: 401, message: 'Sign in' },
  /** An access token, or the session of an embedded login, was presented: neither opens anything here. */
  operator_session_required: { status: 403, message: 'Only the sign-in of this page opens it' },
  csrf_refused: { status: 403, message: 'The request does not come from this instance' },
  invalid_credentials: { status: 401, message: 'The e-mail address or the password is wrong' },
  invalid_code: { status: 401, message: 'The code is wrong, was used before, or has expired' },
  bad_request: { status: 400, message: 'The request is not valid' },
  not_found: { status: 404, message: NOT_FOUND.message },
  unavailable: { status: 409, message: 'Token exchange is off' },
};

/** In the trail it is a refusal, as that of a command. */
export class OperatorRefusal extends CommandError {
  override readonly name = 'OperatorRefusal';

  /** @param detail what is answered beyond the word's own text; never a value that was sent or stored */
  constructor(
    readonly word: keyof typeof REFUSAL_ANSWERS,
    readonly detail?: string,
  ) {
    super(detail ?? word);
  }
}
