// A user of the product. Its id is an integer, which token exchange uses as a string.
import { domainToASCII } from 'node:url';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

@Entity('product_user')
export class User {
  @PrimaryGeneratedColumn()
  id!: number;

  /** In lower case and Unicode NFC, with the domain in ASCII, as `emailKey` returns it. */
  @Column('text', { unique: true })
  email!: string;

  @Column('text', { name: 'given_name' })
  givenName!: string;

  @Column('text', { name: 'family_name' })
  familyName!: string;

  @Column('text')
  role!: string;

  @Column('boolean')
  active!: boolean;
}

/** Two spellings of one address are one user. */
export function emailKey(email: string): string {
  const [, local = '', domain = ''] = /^(.*)@(.*)$/s.exec(email.normalize('NFC').toLowerCase()) ?? [];
  return `${local}@${domainToASCII(domain)}`;
}
