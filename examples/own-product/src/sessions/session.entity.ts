// A browser session of the product.
import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('product_session')
export class Session {
  /** SHA-256 of the cookie: who reads the table cannot use a session. */
  @PrimaryColumn('text', { name: 'id_hash' })
  idHash!: string;

  @Column('integer', { name: 'user_id' })
  userId!: number;

  @Column('timestamptz', { name: 'expires_at' })
  expiresAt!: Date;
}
