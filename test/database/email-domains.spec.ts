// Addresses that were stored before domains were compared in ASCII.
import type { DataSource } from 'typeorm';
import { EmailDomains1790000000200 } from '../../src/instance/migrations/1790000000200-email-domains.js';
import { describeOnEachDatabase } from '../support/databases.js';

const FORMS: readonly (readonly [stored: string, before: string, after: string])[] = [
  ['Дима@partner.example', 'дима@partner.example', 'дима@partner.example'],
  ['Ada@Bücher.example', 'ada@bücher.example', 'ada@xn--bcher-kva.example'],
  // Whose address is in ASCII keeps it.
  ['eva@xn--bcher-kva.example', 'eva@xn--bcher-kva.example', 'eva@xn--bcher-kva.example'],
  ['eva@bücher.example', 'eva@bücher.example', 'eva@bücher.example'],
  // Malformed now: never taken for the address that it looks like.
  ['ida@part\u00adner.example', 'ida@part\u00adner.example', 'ida@part\u00adner.example'],
];

describeOnEachDatabase('[D4] the migration of addresses', (database) => {
  let dataSource: DataSource;

  beforeAll(async () => {
    ({ dataSource } = await database.open());
  });

  it('names domains in ASCII, and leaves two users what they are where they would have one address', async () => {
    for (const [email, before] of FORMS)
      await dataSource.query(
        `INSERT INTO user_account (id, email, normalized_email, role) VALUES (gen_random_uuid(), $1, $2, 'global:member')`,
        [email, before],
      );
    const migration = new EmailDomains1790000000200();
    const queryRunner = dataSource.createQueryRunner();
    // A second time as well, which changes nothing.
    for (let times = 0; times < 2; times++) await migration.up(queryRunner);
    await queryRunner.release();
    const rows = await dataSource.query<{ email: string; form: string }[]>(
      'SELECT email, normalized_email AS form FROM user_account',
    );
    expect(new Map(rows.map(({ email, form }) => [email, form]))).toEqual(
      new Map(FORMS.map(([email, , after]) => [email, after])),
    );
  });
});
