// Why a call of the API is refused, once it is known who makes it.

export type ApiRefusalReason =
  /** A field or parameter is wrong; the detail names it and its rule. */
  | 'bad_request'
  /** The caller was disabled or deleted since the authentication. */
  | 'invalid_token'
  | 'forbidden'
  /** The access token is limited to scopes, and the one that the call needs is not among them. */
  | 'insufficient_scope'
  | 'feature_not_licensed'
  /** It is not there, or the acting user may not see it: the two look alike. */
  | 'not_found'
  | 'email_taken'
  | 'already_member'
  | 'personal_project'
  | 'owner_protected'
  | 'own_account'
  /** There is as much as there may be; the detail says of what, and the limit. */
  | 'quota_exceeded';

export class ApiRefusal extends Error {
  /** @param detail an addition to the reason's own text; never a value that was sent or stored */
  constructor(
    readonly reason: ApiRefusalReason,
    readonly detail?: string,
  ) {
    super(detail ?? reason);
    this.name = 'ApiRefusal';
  }
}

/** A token with this scope might get through, so the answer names it to every caller (RFC 6750 §3.1). */
export class InsufficientScopeRefusal extends ApiRefusal {
  constructor(readonly scope: string) {
    super('insufficient_scope', `The access token lacks the scope ${scope}`);
  }
}

/** @throws ApiRefusal `not_found` */
export function found<T>(thing: T | undefined): T {
  if (thing === undefined) throw new ApiRefusal('not_found');
  return thing;
}
