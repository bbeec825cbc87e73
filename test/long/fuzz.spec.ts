// Damaged copies of good tokens, by a seed, on both flows: none is accepted, none is a fault of the service, none uses up the good one.
import { Partner } from '../../demo/partner.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { BOTH_FLOWS } from '../support/entry-paths.js';
import type { Random } from '../support/random.js';
import { randomFrom } from '../support/random.js';
import { sizeOf } from '../support/series.js';
import { BASE_URL, TestService } from '../support/test-service.js';

const MUTANTS = sizeOf({ small: 300, whole: 100_000 });
/** Tokens live for a minute. */
const MUTANTS_OF_ONE_TOKEN = 100;
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ %\0é\u2028';

type Damage = (token: string, random: Random) => string;

const at = (token: string, random: Random) => random.below(token.length);
const letter = (random: Random) => random.pick([...LETTERS]);

const DAMAGES: readonly Damage[] = [
  (token, random) => {
    const position = at(token, random);
    return token.slice(0, position) + letter(random) + token.slice(position + 1);
  },
  (token, random) => {
    const position = at(token, random);
    return token.slice(0, position) + letter(random) + token.slice(position);
  },
  (token, random) => {
    const position = at(token, random);
    return token.slice(0, position) + token.slice(position + 1 + random.below(20));
  },
  (token, random) => {
    const [from, to] = [at(token, random), at(token, random)];
    return token.slice(0, to) + token.slice(from, from + 30) + token.slice(to);
  },
  (token, random) => {
    const parts = token.split('.');
    const [one, other] = [random.below(3), random.below(3)];
    return parts.map((part, position) => (position === one ? parts[other] : part)).join('.');
  },
];

/** One damage or several. */
function damaged(token: string, random: Random): string {
  let text = token;
  do text = random.pick(DAMAGES)(text, random);
  while (
    // White space around a token is no part of it (D16).
    text.trim() === token ||
    random.below(3) === 0
  );
  return text;
}

describeOnAnyDatabase('[5.2.1] damaged tokens', (database) => {
  const partner = Partner.create({ issuer: 'https://partner.example', audience: BASE_URL });
  let service: TestService;

  beforeAll(async () => {
    service = await TestService.start(database, { trustedKeys: [partner.staticEntry()] });
  });
  afterAll(() => service?.stop());

  it.each(BOTH_FLOWS)(
    `[5.2.1] ${MUTANTS} by $name are refused, and the good ones pass afterwards`,
    async (path) => {
      const random = randomFrom(path.name.length);
      const companion = () => partner.sign();
      for (let done = 0; done < MUTANTS; done += MUTANTS_OF_ONE_TOKEN) {
        const good = partner.sign();
        for (let turn = 0; turn < MUTANTS_OF_ONE_TOKEN; turn++) {
          const mutant = damaged(good, random);
          const { status } = await path.send(service, mutant, companion);
          const refused = path.flow === 'embed' ? [400, 401, 500] : [400];
          if (!refused.includes(status))
            throw new Error(`${status} for ${JSON.stringify(mutant)} of ${good}`);
        }
        expect((await path.send(service, good, companion)).status).toBe(path.flow === 'embed' ? 303 : 200);
      }
      // A 500 is the contract's answer to claims that cannot be read; a fault of the service is logged as one.
      expect(service.log.filter(({ level }) => level === 'error' || level === 'fatal')).toEqual([]);
    },
    sizeOf({ small: 60_000, whole: 3_600_000 }),
  );
});
