// The one way in which a token is refused; whoever judges it knows the reason, each flow's error filter the answer.

/** Every reason why a token, or a pair of tokens, is refused. */
export type RejectionReason =
  // header and key
  | 'token_malformed'
  | 'kid_missing'
  | 'header_not_allowed'
  | 'token_type_not_allowed'
  | 'algorithm_not_allowed'
  | 'issuer_unknown'
  | 'kid_unknown'
  | 'signature_invalid'
  | 'trust_revoked'
  // claims and times
  | 'claims_invalid'
  | 'claims_not_storable'
  | 'audience_mismatch'
  | 'token_expired'
  | 'token_not_yet_valid'
  | 'token_issued_in_future'
  | 'token_lifetime_exceeded'
  | 'remaining_lifetime_too_short'
  // what its entry is trusted for
  | 'entry_suspended'
  | 'trust_ended'
  | 'flow_not_allowed'
  // where it was posted from
  | 'origin_not_allowed'
  // whom it may be joined with
  | 'actor_required'
  | 'actor_not_allowed'
  | 'act_for_not_allowed'
  // what is asked for
  | 'scope_not_allowed'
  | 'resource_not_allowed'
  // consumption
  | 'token_replayed'
  // identity
  | 'email_missing'
  | 'email_not_verified'
  | 'email_domain_not_allowed'
  | 'linking_not_allowed'
  | 'privileged_linking_not_allowed'
  | 'provisioning_not_allowed'
  | 'role_not_allowed'
  | 'role_not_recognized'
  | 'role_not_assignable'
  | 'stored_role_not_allowed'
  | 'owner_excluded'
  | 'user_disabled';

/** The two tokens of an exchange. */
export type Party = 'subject' | 'actor';

/** Every reason why an access token of the host's own is refused where it is presented (RFC 6750). */
export type BearerReason =
  /** No Bearer credential, or none that is written like an access token. */
  | 'malformed'
  /** No key of the host has signed it, or for another issuer or purpose. */
  | 'not_issued_here'
  | 'other_audience'
  | 'expired'
  | 'revoked'
  // whom it is for
  | 'user_unknown'
  | 'user_disabled';

/**
 * What a rejection tells the log and the audit trail, and nobody else. Of claims only what a right signature covers; `issuer`
 * and `kid` as they were sent only where the issuer is a trusted one.
 */
export interface RejectionContext {
  /** Which of the two tokens of an exchange was refused. */
  party?: Party;
  issuer?: string;
  kid?: string;
  /** The local user who was found, where who that is or what is stored of them is the cause. */
  userId?: string;
  /** The true cause in words, without any value of the token. */
  detail?: string;
  /** What the rule asks for. */
  expected?: string;
  /**
   * What came instead. Both by `told` of foundation/told-value.ts, or words of ours with numbers: never an e-mail address, a
   * `sub`, a `jti`, a token or a key.
   */
  found?: string;
}

/** A token was refused, by one of its rules; never for a fault of ours. */
export class Rejection extends Error {
  constructor(
    readonly reason: RejectionReason,
    private gathered: RejectionContext = {},
  ) {
    // An answer, not a fault: nobody looks where it was made, and to write that down is most of its price.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(gathered.detail === undefined ? reason : `${reason}: ${gathered.detail}`);
    Error.stackTraceLimit = stackTraceLimit;
    this.name = 'Rejection';
  }

  get context(): RejectionContext {
    return this.gathered;
  }

  /** Adds context on the rejection's way up; what is there already stays. */
  add(context: RejectionContext): void {
    this.gathered = { ...context, ...this.gathered };
  }
}

/** Runs work and adds context to the rejection that may end it; context that is dear to make is made only then. */
export async function withRejectionContext<T>(
  context: RejectionContext | (() => RejectionContext),
  work: () => T | Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Rejection) error.add(typeof context === 'function' ? context() : context);
    throw error;
  }
}
