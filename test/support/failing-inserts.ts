// Makes inserts into a table fail, as a fault of the database would.
import type { TestService } from './test-service.js';

const TRIGGERS = {
  'at the statement': (table: string) =>
    `CREATE TRIGGER fail BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION fail()`,
  'at the commit': (table: string) =>
    `CREATE CONSTRAINT TRIGGER fail AFTER INSERT ON ${table} DEFERRABLE INITIALLY DEFERRED
     FOR EACH ROW EXECUTE FUNCTION fail()`,
};

export async function whileInsertsFail<T>(
  service: TestService,
  table: string,
  work: () => Promise<T>,
  when: keyof typeof TRIGGERS = 'at the statement',
): Promise<T> {
  await service.rows(`CREATE OR REPLACE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'made to fail'; END $$`);
  await service.rows(TRIGGERS[when](table));
  try {
    return await work();
  } finally {
    await service.rows(`DROP TRIGGER fail ON ${table}`);
  }
}
