// What the time of a refused token exchange tells: wrong signature, unknown kid, unknown issuer, an algorithm that is not the key's.
import { exchangeForm, FORM } from '../support/exchanges.mjs';
import { forged } from '../support/checks.mjs';
import { LoneClient } from '../support/lone-client.mjs';
import { median, quantile } from '../support/statistics.mjs';
import { RESIDENTS } from '../support/residents.mjs';

const SAMPLES = 3_000;
/** So many before, of the samples: the service still compiles what the refusals have for themselves. */
const WARM_UP_SHARE = 0.5;
/** What all others are compared with; it is there twice, so that the noise can be seen. */
const USUAL = 'wrong signature';

export const timing = {
  name: 'timing',
  title:
    'Times of refused token exchanges, one request after another, kinds in random order, ES256, on PostgreSQL',

  async run(workbench) {
    const service = await workbench.startService();
    const kinds = await kindsOf(workbench.partner);
    const client = new LoneClient(service.server.origin);
    const count = workbench.options.requests ?? SAMPLES;
    const times = new Map([...kinds.keys()].map((kind) => [kind, []]));
    for (let round = -Math.round(count * WARM_UP_SHARE); round < count; round += 1) {
      if (round % 1000 === 0) workbench.tell(`${round} of ${count} samples of each kind`);
      for (const kind of shuffled([...kinds.keys()])) {
        const request = { ...FORM, path: service.exchangePath, body: exchangeForm(service, kinds.get(kind)) };
        const startedAt = performance.now();
        const status = await client.send(request);
        const micros = (performance.now() - startedAt) * 1000;
        if (status !== 400) throw new Error(`${kind} was answered with ${status}`);
        if (round >= 0) times.get(kind).push(micros);
      }
    }
    client.close();
    const usual = times.get(USUAL);
    const lines = [...times].map(([kind, values]) => lineOf(kind, values, usual));
    return {
      ratios: [],
      remarks: [
        `${count} samples of each kind. "slower" is how often a random sample of a kind is slower than one of "${USUAL}" ` +
          '(Mann-Whitney): 50 % says that nothing can be told by it; z beyond 3 that it can, with so many samples.',
        ...lines,
      ],
    };
  },
};

/** A token for each kind: one that is refused can be sent again. */
async function kindsOf(partner) {
  const sign = (claims = {}) => partner.sign('ES256', { ...RESIDENTS[0], ...claims }, 3_600);
  const withHeader = (token, change) => {
    const [header, ...rest] = token.split('.');
    const members = { ...JSON.parse(Buffer.from(header, 'base64url')), ...change };
    return [Buffer.from(JSON.stringify(members)).toString('base64url'), ...rest].join('.');
  };
  const unknownIssuer = await sign({ iss: 'https://login.nobody.example' });
  return new Map([
    [USUAL, forged(await sign())],
    ['wrong signature again', forged(await sign())],
    ['unknown kid', withHeader(await sign(), { kid: 'partner-ES999' })],
    ['unknown issuer', unknownIssuer],
    ["another key's algorithm", withHeader(await sign(), { kid: 'partner-EdDSA' })],
  ]);
}

function lineOf(kind, values, usual) {
  const { share, z } = rankTest(values, usual);
  const [low, middle, high] = [0.25, 0.5, 0.75].map((fraction) => quantile(values, fraction).toFixed(0));
  const difference = (median(values) - median(usual)).toFixed(1);
  return `${kind}: median ${middle} µs (quartiles ${low}, ${high}), ${difference} µs to the usual, slower ${(100 * share).toFixed(1)} %, z ${z.toFixed(1)}`;
}

/** Mann-Whitney's U, as the share of pairs in which the first is greater, and by the normal approximation. */
function rankTest(one, other) {
  const ranked = [...one.map((value) => [value, 1]), ...other.map((value) => [value, 0])].sort(
    ([first], [second]) => first - second,
  );
  const rankSum = ranked.reduce((sum, [, isOne], index) => sum + isOne * (index + 1), 0);
  const [n, m] = [one.length, other.length];
  const greater = rankSum - (n * (n + 1)) / 2;
  return { share: greater / (n * m), z: (greater - (n * m) / 2) / Math.sqrt((n * m * (n + m + 1)) / 12) };
}

function shuffled(list) {
  for (let index = list.length - 1; index > 0; index -= 1) {
    const other = Math.floor(Math.random() * (index + 1));
    [list[index], list[other]] = [list[other], list[index]];
  }
  return list;
}
