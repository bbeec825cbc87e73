// The events of this instance beside those of token exchange.

/** By an operator, or somebody who would like to be one. */
interface OperatorRequest {
  /** As in the events of the flows. */
  readonly clientAddress: string;
}

interface AdministrativeOperation {
  /** As its command is typed: `users create`. */
  readonly operation: string;
  /** Through the running service, on the database itself, or by the operator's page. */
  readonly way: 'service' | 'database' | 'operator';
  /** From where, by the page; as in the events of the flows. */
  readonly clientAddress?: string;
}

/** Why nobody was let in at the operator's page. */
export type OperatorRefusalReason =
  'unknown_account' | 'no_password' | 'wrong_password' | 'not_privileged' | 'user_disabled' | 'wrong_code';

declare module '../token-exchange/audit/audit-event.js' {
  interface AuditPayloads {
    'svc.audit.api.called': {
      readonly method: string;
      readonly route: string;
      /** The ids that the path named, by the names of the route's parameters. */
      readonly things: Readonly<Record<string, string>>;
      /** By which it was made. */
      readonly accessTokenId?: string;
      /** Or the session. Of the calls of sessions only readings of this trail are told. */
      readonly sessionFamilyId?: string;
    };
    /** A call was refused for its Bearer credential; the users are those of a token whose signature is ours. */
    'svc.audit.api.refused': {
      readonly reason: string;
      readonly expected?: string;
      readonly found?: string;
      readonly method: string;
      readonly route: string;
      /** Where its signature is ours. */
      readonly accessTokenId?: string;
      /** As in the events of the flows. */
      readonly clientAddress?: string;
    };
    /** An administrative operation was performed, by somebody with the account of the service or with the database. */
    'svc.audit.administration.performed': AdministrativeOperation & {
      /** The ids of what it concerned, by the names that the API has for them. */
      readonly things: Readonly<Record<string, string>>;
    };
    /** One was asked for and changed nothing: it was refused, or ended by a fault. */
    'svc.audit.administration.failed': AdministrativeOperation & {
      readonly reason: 'refused' | 'internal_error';
    };
    /** Somebody has signed in at the operator's page. */
    'svc.audit.operator.signed-in': OperatorRequest & {
      readonly by: 'password' | 'code';
      /** As lists of sessions call it; opens nothing. */
      readonly operatorSessionId: string;
    };
    /** A sign-in was refused. The client is told one thing whatever the reason. */
    'svc.audit.operator.sign-in-failed': OperatorRequest & {
      readonly reason: OperatorRefusalReason;
    };
    /** An operator has signed out. */
    'svc.audit.operator.signed-out': OperatorRequest & { readonly operatorSessionId: string };
    /** The password of the subject is another one, and the sessions of before have ended. */
    'svc.audit.operator.password-changed': Partial<OperatorRequest> & {
      /** By the one before, a code, or a command. */
      readonly by: 'password' | 'code' | 'command';
      readonly endedSessions: number;
    };
  }
}
