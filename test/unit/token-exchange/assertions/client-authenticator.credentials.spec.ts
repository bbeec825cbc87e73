// Client credentials in requests, and the errors for unreadable Basic credentials.
import { readClientCredentials } from '../../../../src/token-exchange/assertions/client-authenticator.js';
import { isTokenRefusal } from '../../../../src/token-exchange/refusals/oauth-refusal.js';

const read = (credential: string) =>
  readClientCredentials({ get: () => undefined }, `Basic ${btoa(credential)}`);

function detailOf(work: () => unknown): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (isTokenRefusal(error)) return error.context.detail;
    throw error;
  }
}

it.each([
  ['a:b', { id: 'a', secret: 'b' }],
  ['a%3Ab:c+d', { id: 'a:b', secret: 'c d' }],
  ['https%3A%2F%2Fa.example:s', { id: 'https://a.example', secret: 's' }],
])('[D133] the Basic credential %s is read', (credential, sent) => expect(read(credential)).toEqual(sent));

const NOT_ENCODED = 'the Basic credential is not form-encoded (RFC 6749 §2.3.1)';
it.each([
  ['https://a.example/client:secret', `${NOT_ENCODED}: the colon of its id must be %3A`],
  ['a:100%', `${NOT_ENCODED}: a percent sign must be %25`],
  ['a', 'the Authorization header is no Basic credential'],
  [':b', 'the Authorization header is no Basic credential'],
])('[D133] the log reports why %s cannot be read', (credential, detail) =>
  expect(detailOf(() => read(credential))).toBe(detail),
);
