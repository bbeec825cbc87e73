// Checks the catalogue of refusals: its order, and that each sentence of the log and each code of an answer leads to a row of docs/refusals.md.
import { HttpException } from '@nestjs/common';
import { inOwnWords, REMEDIES } from '../../src/instance/token-exchange-settings.js';
import { errorOf } from '../../src/token-exchange/endpoint/challenge.js';
import { hostRefusalOf } from '../../src/token-exchange/endpoint/flow-error.filter.js';
import { FAULT } from '../../src/token-exchange/endpoint/request-refusals.js';
import {
  bearerLine,
  noticeLine,
  REFUSALS_PAGE,
  requestRefusalLine,
  tokenRefusalLine,
} from '../../src/token-exchange/refusals/refusal-line.js';
import { NOTICES, REQUEST_REFUSALS } from '../../src/token-exchange/refusals/refusals.js';
import { loginAnswerOf, oauthAnswerOf } from '../../src/token-exchange/refusals/token-answers.js';
import { TOKEN_REFUSALS } from '../../src/token-exchange/refusals/token-refusals.js';
import { BEARER_REFUSALS } from '../../src/token-exchange/tokens/bearer-refusals.js';
import { codesOnPage, isOnPage } from '../support/refusals-page.js';
import { repositoryFile, typescriptFiles } from '../support/source-files.js';

const wordsOf = <Table extends object>(table: Table) => Object.keys(table) as (keyof Table & string)[];

const LINES = [
  ...wordsOf(TOKEN_REFUSALS).map((word) => tokenRefusalLine('a token exchange', word, {})),
  ...wordsOf(REQUEST_REFUSALS).map((word) => requestRefusalLine('a token exchange', word, {})),
  ...wordsOf(BEARER_REFUSALS).map((word) => bearerLine(word, {})),
  ...wordsOf(NOTICES).map((word) => noticeLine(word, {})),
];

it('[D77] each sentence in the log leads to a row of docs/refusals.md, and each row is used', () => {
  const anchors = [...repositoryFile(REFUSALS_PAGE).text.matchAll(/<a id="([^"]+)"><\/a>/g)].map(
    ([, id]) => id,
  );
  const targets = LINES.map((line) => /; see docs\/refusals\.md#([\w-]+)$/.exec(line)?.[1]);
  expect(targets).not.toContain(undefined);
  expect(anchors).toEqual(targets);
  expect(new Set(anchors).size).toBe(anchors.length);
});

describe('[D77] docs/refusals.md has each code and reason', () => {
  it.each(wordsOf(TOKEN_REFUSALS))('of a token: %s', (reason) => {
    const { check, embed } = TOKEN_REFUSALS[reason];
    const endpoint = check === 'client' ? 'introspect' : 'token';
    expect(isOnPage(endpoint, oauthAnswerOf(reason).error, reason)).toBe(true);
    if (embed !== undefined) expect(isOnPage('login', loginAnswerOf(reason).error, reason)).toBe(true);
  });

  it.each(wordsOf(REQUEST_REFUSALS))('of a request: %s', (kind) => {
    const { oauth = 'invalid_request', embed = kind } = REQUEST_REFUSALS[kind];
    const isOfLogin = kind === 'prefetch' || kind === 'method_not_allowed';
    if (!isOfLogin) expect(isOnPage('token', oauth, kind)).toBe(true);
    expect(isOnPage('login', embed, kind)).toBe(true);
  });

  it.each(wordsOf(BEARER_REFUSALS))('of an access token: %s', (reason) => {
    for (const scheme of ['Bearer', 'DPoP'])
      expect(isOnPage('API', errorOf(`${scheme} x`, reason), `bearer-${reason}`)).toBe(true);
  });

  it("of errors, limits and a host's guards", () => {
    const statuses = [400, 401, 403, 404, 418, 429, 500, 503];
    const answered = statuses.map((status) => hostRefusalOf(new HttpException('', status))?.error);
    const codes = [...answered, FAULT.oauth.error, FAULT.embed.error];
    expect(codesOnPage()).toEqual(expect.arrayContaining(codes));
  });

  it("in the endpoints' code", () => {
    const texts = typescriptFiles('src/token-exchange').map(({ text }) => text);
    const codes = texts.flatMap((text) => [...text.matchAll(/\berror: '(\w+)'/g)].map(([, code]) => code));
    expect(codes.length).toBeGreaterThan(10);
    expect(codesOnPage()).toEqual(expect.arrayContaining(codes));
  });
});

it('[D77] the reasons of one check are adjacent, in the order of the checks', () => {
  const checks = Object.values(TOKEN_REFUSALS).map(({ check }) => check);
  const runs = checks.filter((check, index) => check !== checks[index - 1]);
  expect(runs).toEqual([...new Set(checks)]);
});

it('[D77] the instance names its settings where the package uses general terms', () => {
  expect(JSON.stringify([TOKEN_REFUSALS, REQUEST_REFUSALS, BEARER_REFUSALS, NOTICES])).not.toContain('SVC_');
  const words = [...wordsOf(REQUEST_REFUSALS), ...wordsOf(BEARER_REFUSALS)];
  expect(words).toEqual(expect.arrayContaining(Object.keys(REMEDIES)));
  expect(inOwnWords(REQUEST_REFUSALS)['not_enabled']).toEqual({
    ...REQUEST_REFUSALS.not_enabled,
    remedy: expect.stringContaining('SVC_EMBED_LOGIN_ENABLED'),
  });
});
