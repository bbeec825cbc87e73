// The events of this instance beside those of token exchange.
declare module '../token-exchange/audit/audit-event.js' {
  interface AuditPayloads {
    'svc.audit.api.called': {
      readonly method: string;
      readonly route: string;
      /** The ids that the path named, by the names of the route's parameters. */
      readonly things: Readonly<Record<string, string>>;
      readonly accessTokenId: string;
    };
  }
}

export {};
