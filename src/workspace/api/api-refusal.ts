// Why a call of the API is refused, once it is known who makes it.

export type ApiRefusalReason =
  /** A field or parameter is wrong; the detail names it and its rule. */
  | 'bad_request'
  /** Who makes the call has been disabled, or is gone, since it was let in. */
  | 'invalid_token'
  | 'forbidden'
  | 'feature_not_licensed'
  /** It is not there, or the acting user may not see it: the two look alike. */
  | 'not_found'
  | 'email_taken'
  | 'already_member'
  | 'personal_project'
  | 'owner_protected'
  | 'own_account';

export class ApiRefusal extends Error {
  /** @param detail what the client is told beyond the reason's own text; never a value that was sent or stored */
  constructor(
    readonly reason: ApiRefusalReason,
    readonly detail?: string,
  ) {
    super(detail ?? reason);
    this.name = 'ApiRefusal';
  }
}
