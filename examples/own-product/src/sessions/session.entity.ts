// A browser session of the product.
import type { IssuerKey } from '@embedded-token-exchange/nestjs/advanced';
import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('product_session')
export class Session {
  /** SHA-256 of the cookie, so that a reader of the table cannot use a session. */
  @PrimaryColumn('text', { name: 'id_hash' })
  idHash!: string;

  @Column('integer', { name: 'user_id' })
  userId!: number;

  @Column('timestamptz', { name: 'opened_at' })
  openedAt!: Date;

  @Column('timestamptz', { name: 'expires_at' })
  expiresAt!: Date;

  /** The partner's keys that signed for the user. If one of them is revoked, the session ends. */
  @Column('jsonb', { name: 'signed_by' })
  signedBy!: IssuerKey[];
}
