// What a client ID metadata document must say before keys are taken from it.
import { readClientDocument } from '../../../../../src/token-exchange/trust/jwks/jwks-refresh.js';

const URL = 'https://client.example/agent.json';
const DOCUMENT = {
  client_id: URL,
  client_name: 'An agent',
  redirect_uris: ['https://client.example/back'],
  token_endpoint_auth_method: 'private_key_jwt',
  jwks: { keys: [] },
};
const read = (document: unknown) => readClientDocument(Buffer.from(JSON.stringify(document)), URL);

it('[D133] a metadata document may contain a key set', () =>
  expect(read(DOCUMENT)).toEqual({ jwks: Buffer.from('{"keys":[]}') }));

it('[D133] a metadata document may contain the address of its key set', () => {
  const jwksUri = 'https://keys.example/jwks';
  expect(read({ ...DOCUMENT, jwks: undefined, jwks_uri: jwksUri })).toEqual({ jwksUri });
});

const [OTHER_ID, OTHER_METHOD, NO_KEYS] = [
  'the client_id of the metadata document is not its address',
  'token_endpoint_auth_method of the metadata document is not private_key_jwt',
  'the metadata document must have either jwks or the URL jwks_uri',
];

it.each<[string, unknown, string]>([
  ['of another client', { ...DOCUMENT, client_id: 'https://other.example/agent.json' }, OTHER_ID],
  ['without an id', { ...DOCUMENT, client_id: undefined }, OTHER_ID],
  ['of a public client', { ...DOCUMENT, token_endpoint_auth_method: 'none' }, OTHER_METHOD],
  [
    'that does not say how its client authenticates',
    { ...DOCUMENT, token_endpoint_auth_method: undefined },
    OTHER_METHOD,
  ],
  ['without keys', { ...DOCUMENT, jwks: undefined }, NO_KEYS],
  ['with two key sets', { ...DOCUMENT, jwks_uri: URL }, NO_KEYS],
  ['whose key set has no address', { ...DOCUMENT, jwks: undefined, jwks_uri: 'x' }, NO_KEYS],
  ['that is no object', [DOCUMENT], 'the metadata document is no JSON object'],
])('[D133] a metadata document %s is rejected', (_name, document, message) =>
  expect(() => read(document)).toThrow(message),
);
