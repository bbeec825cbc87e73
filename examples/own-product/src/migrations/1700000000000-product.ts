// The product's tables from before token exchange, except the keys of a session.
import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Product1700000000000 implements MigrationInterface {
  readonly name = 'Product1700000000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`CREATE TABLE product_user (
      id serial PRIMARY KEY,
      email text NOT NULL UNIQUE,
      given_name text NOT NULL,
      family_name text NOT NULL,
      role text NOT NULL,
      active boolean NOT NULL
    )`);
    await queryRunner.query(`CREATE TABLE product_session (
      id_hash text PRIMARY KEY,
      user_id integer NOT NULL REFERENCES product_user ON DELETE CASCADE,
      opened_at timestamptz NOT NULL,
      expires_at timestamptz NOT NULL,
      signed_by jsonb NOT NULL
    )`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE product_session');
    await queryRunner.query('DROP TABLE product_user');
  }
}
