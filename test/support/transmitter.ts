// A transmitter of security events: an identity provider with a key set on a real HTTP server. The event shapes follow CAEP 1.0, RISC 1.0
// and Keycloak. Keycloak's `session-revoked` names user and session, and its times are in seconds.
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Members } from '../../demo/partner.js';
import { Partner } from '../../demo/partner.js';
import type { JwksServer } from './jwks-server.js';
import type { TestService } from './test-service.js';

export const EVENTS_PATH = '/rest/auth/events';
const SCHEMAS = 'https://schemas.openid.net/secevent/';
export const EVENT_TYPES = {
  'session-revoked': `${SCHEMAS}caep/event-type/session-revoked`,
  'credential-change': `${SCHEMAS}caep/event-type/credential-change`,
  'device-compliance-change': `${SCHEMAS}caep/event-type/device-compliance-change`,
  'account-disabled': `${SCHEMAS}risc/event-type/account-disabled`,
  'account-enabled': `${SCHEMAS}risc/event-type/account-enabled`,
  'account-purged': `${SCHEMAS}risc/event-type/account-purged`,
  'sessions-revoked': `${SCHEMAS}risc/event-type/sessions-revoked`,
  verification: `${SCHEMAS}ssf/event-type/verification`,
};
export type TestEvent = keyof typeof EVENT_TYPES;

export class TestTransmitter {
  readonly secret = randomUUID() + randomUUID();
  readonly audience = `stream-${randomUUID()}`;
  readonly provider: Partner;

  constructor(
    issuer: string,
    readonly keySet: JwksServer,
  ) {
    this.provider = Partner.create({ issuer });
  }

  get issuer(): string {
    return this.provider.issuer;
  }

  /** The configuration of an operator. */
  configured(overrides: Members = {}): Members {
    const secretFile = join(tmpdir(), `${randomUUID()}.secret`);
    writeFileSync(secretFile, `${this.secret}\n`);
    const { issuer, audience } = this;
    return { issuer, audience, jwksUri: this.keySet.url, secretFile, ...overrides };
  }

  /** @param event the event's properties, to which a time is added */
  token(type: TestEvent, iat: number, subject?: unknown, event: Members = {}, claims: Members = {}): string {
    const payload = {
      iss: this.issuer,
      aud: [this.audience],
      iat,
      jti: randomUUID(),
      txn: randomUUID(),
      sub_id: subject,
      events: { [EVENT_TYPES[type]]: { event_timestamp: iat, ...event } },
      ...claims,
    };
    return this.provider.sign(payload, { typ: 'secevent+jwt' });
  }

  user(sub: string): Members {
    return { format: 'iss_sub', iss: this.issuer, sub };
  }

  async send(service: TestService, token: string, headers: Record<string, string> = {}): Promise<Response> {
    return service.fetch(EVENTS_PATH, {
      method: 'POST',
      body: token,
      headers: {
        'content-type': 'application/secevent+jwt',
        authorization: `Bearer ${this.secret}`,
        ...headers,
      },
    });
  }
}
