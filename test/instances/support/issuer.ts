// An issuer that publishes its keys at an endpoint of its own.
import { randomUUID } from 'node:crypto';
import type { Members } from '../../../demo/partner.js';
import { Partner } from '../../../demo/partner.js';
import { JwksServer } from '../../support/jwks-server.js';

export class Issuer {
  private down: Promise<void> | undefined;

  private constructor(
    readonly partner: Partner,
    readonly keySet: JwksServer,
  ) {}

  /** Publishes from the first moment on. @param maxAgeSeconds what the answers say; nothing if left out */
  static async listen(name: string, maxAgeSeconds?: number): Promise<Issuer> {
    const partner = Partner.create({ issuer: `https://${name}.example` });
    const issuer = new Issuer(partner, await JwksServer.listen());
    issuer.publish(maxAgeSeconds);
    return issuer;
  }

  publish(maxAgeSeconds?: number): void {
    const keySet = this.partner.jwks();
    if (maxAgeSeconds === undefined) this.keySet.publish(keySet);
    else this.keySet.publish(keySet, { 'cache-control': `max-age=${maxAgeSeconds}` });
  }

  entry(members: Members = {}): object {
    return { type: 'jwks', url: this.keySet.url, issuer: this.partner.issuer, ...members };
  }

  /** From now on connections to the endpoint are refused; a second time it does nothing. */
  goDown(): Promise<void> {
    return (this.down ??= this.keySet.close());
  }

  /** New tokens under the present key. */
  tokens(count: number): string[] {
    return Array.from({ length: count }, () => this.partner.sign());
  }

  /** New tokens, each with a kid that nobody has. */
  tokensOfUnknownKids(count: number): string[] {
    const { partner } = this;
    return Array.from({ length: count }, () => partner.sign(partner.claims(), { kid: `unknown-${randomUUID()}` }));
  }
}
