// Logouts of made-up subjects, as many as the holder of a partner's key can send: the built service keeps them in little memory.
import { rmSync } from 'node:fs';
import { Partner } from '../../demo/partner.js';
import { ServiceProcess } from '../../demo/service-process.js';
import { describeBuilt, surroundingsOf } from '../support/built-service.js';
import { describeOnPostgresql } from '../support/databases.js';
import { LOGOUT_PATH, logoutToken } from '../support/logout-tokens.js';

const ISSUERS = 8;
const KEPT = 50_000;
const SENT = 100;
/** In MiB. What the service needs by itself, and some 200 bytes for each logout; all rows at once do not fit. */
const HEAP = 192;

const partner = Partner.create({ issuer: 'https://partner-1.example' });

describeBuilt('[D131] a service with a small heap', () => {
  describeOnPostgresql('with the maximum of logouts', (database) => {
    it("starts, accepts more, and has one row for the issuer's logouts", async () => {
      const surroundings = await surroundingsOf({
        ...database.environment,
        SVC_TOKEN_EXCHANGE_TRUSTED_KEYS: JSON.stringify([partner.staticEntry()]),
        SVC_ENCRYPTION_KEY: Buffer.alloc(32, 3).toString('base64'),
        NODE_OPTIONS: `--max-old-space-size=${HEAP}`,
      });
      const { dataSource } = await database.open();
      for (let issuer = 1; issuer <= ISSUERS; issuer++)
        await dataSource.query(
          `INSERT INTO token_exchange_logout (issuer, login_key, issued_until, received_at)
           SELECT $1::text, left(md5($1 || n), 22), 1, now() FROM generate_series(1, $2) AS n`,
          [`https://partner-${issuer}.example`, KEPT],
        );
      const service = await ServiceProcess.start(surroundings, surroundings.baseUrl);
      try {
        const post = (n: number) =>
          fetch(new URL(LOGOUT_PATH, surroundings.baseUrl), {
            method: 'POST',
            body: new URLSearchParams({ logout_token: logoutToken(partner, { sub: `made up ${n}` }) }),
          });
        for (let n = 0; n < SENT; n++) expect((await post(n)).status).toBe(200);
        const [kept] = await dataSource.query<{ count: number }[]>(
          'SELECT count(*)::int FROM token_exchange_logout WHERE issuer = $1',
          [partner.issuer],
        );
        expect(kept?.count).toBe(SENT);
      } finally {
        expect(await service.stop()).toBe(0);
        rmSync(surroundings.directory, { recursive: true, force: true });
      }
    });
  });
});
