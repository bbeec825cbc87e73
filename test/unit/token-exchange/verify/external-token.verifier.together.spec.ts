// The tokens of a request: whose they are.
import type { Tokens } from '../../../../src/token-exchange/verify/external-token.verifier.js';
import { personOf } from '../../../../src/token-exchange/verify/external-token.verifier.js';

const verified = (iss: string, sub: string) => ({ claims: { iss, sub, email: `${sub}@example.com` } });
const tokens = {
  subject: verified('https://a.example', 'ada'),
  actor: verified('https://b.example', 'bot'),
} as unknown as Tokens;

it('an error contains the person of the rejected token, or else the subject', () => {
  const ada = { issuer: 'https://a.example', subject: 'ada', email: 'ada@example.com' };
  const bot = { issuer: 'https://b.example', subject: 'bot', email: 'bot@example.com' };
  expect([personOf(tokens, 'subject'), personOf(tokens, undefined)]).toEqual([ada, ada]);
  expect(personOf(tokens, 'actor')).toEqual(bot);
  expect(personOf({ ...tokens, actor: undefined }, 'actor')).toBeUndefined();
  expect(personOf(undefined, 'subject')).toBeUndefined();
});
