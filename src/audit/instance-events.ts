// The events of this instance beside those of token exchange.

interface AdministrativeOperation {
  /** As its command is typed: `users create`. */
  readonly operation: string;
  /** Through the running service, or on the database itself. */
  readonly way: 'service' | 'database';
}

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
  }
}

export {};
