// The product's table from before token exchange.
import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Product1700000000000 implements MigrationInterface {
  readonly name = 'Product1700000000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`CREATE TABLE product_user (
      id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
      email text NOT NULL UNIQUE,
      given_name text NOT NULL,
      family_name text NOT NULL,
      role text NOT NULL,
      active boolean NOT NULL
    )`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE product_user');
  }
}
