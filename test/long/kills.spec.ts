// The built service is killed repeatedly during exchanges: answered exchanges are kept, on both databases.
import { rmSync } from 'node:fs';
import { Partner } from '../../demo/partner.js';
import type { ServiceSurroundings } from '../../demo/service-process.js';
import { ServiceProcess } from '../../demo/service-process.js';
import { describeBuilt, exchangeStatusAt, surroundingsOf } from '../support/built-service.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { sizeOf } from '../support/series.js';

const KILLS = Array.from({ length: sizeOf({ small: 1, whole: 20 }) }, (_, index) => index + 1);
const EXCHANGES = 40;

describeBuilt('[D46] kill -9 under traffic', () => {
  describeOnEachDatabase('on its database', (database) => {
    const partner = Partner.create({ issuer: 'https://partner.example' });
    let surroundings: ServiceSurroundings & { baseUrl: string };
    let service: ServiceProcess;

    beforeAll(async () => {
      surroundings = await surroundingsOf({
        SVC_ENCRYPTION_KEY: Buffer.alloc(32, 3).toString('base64'),
        ...database.environment,
        SVC_TOKEN_EXCHANGE_TRUSTED_KEYS: JSON.stringify([partner.staticEntry()]),
        SVC_TOKEN_EXCHANGE_TOKEN_EXCHANGE_PER_MINUTE: '1000000',
      });
      service = await ServiceProcess.start(surroundings, surroundings.baseUrl);
    });
    afterAll(async () => {
      await service?.stop();
      rmSync(surroundings.directory, { recursive: true, force: true });
    });

    const exchange = (token: string) => exchangeStatusAt(surroundings.baseUrl, token);

    it.each(KILLS)('[5.2.5][D46] restarts at time %d, and accepts no answered token twice', async () => {
      const tokens = Array.from({ length: EXCHANGES }, () => partner.sign());
      const answered: string[] = [];
      const sending = tokens.map(async (token) => {
        if ((await exchange(token)) !== 200) return;
        answered.push(token);
        // No public method of the class kills.
        if (answered.length === EXCHANGES / 2) service['child'].kill('SIGKILL');
      });
      await Promise.all(sending);
      expect(answered.length).toBeGreaterThanOrEqual(EXCHANGES / 2);
      expect(await service.exited).toBe('SIGKILL');

      service = await ServiceProcess.start(surroundings, surroundings.baseUrl);
      const again = await Promise.all(answered.map(exchange));
      expect(again).toEqual(answered.map(() => 400));
      expect(await exchange(partner.sign())).toBe(200);
    });
  });
});
