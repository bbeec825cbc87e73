// The events of this instance beside those of token exchange.
import type { AuditEvent } from '../token-exchange/audit/audit-event.js';

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

/** A call of the API. */
export type ApiCalled = AuditEvent<'svc.audit.api.called'>;
