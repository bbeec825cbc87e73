// The table that `keys list` prints.
import type { ListedEntry } from '../../../src/administration/entries/entries.operations.js';
import { entriesText } from '../../../src/cli/keys.command.js';

const stored: ListedEntry = {
  ...{
    from: 'command',
    configuredIn: null,
    entry: 'stored:acme',
    name: 'acme',
    state: 'trusted',
    revoked: [],
  },
  ...{ type: 'static', issuer: 'https://acme.example', keys: { kid: 'k', thumbprint: null } },
  ...{ audience: 'https://instance.example', until: null, policy: [], problems: [], changedAt: null },
};

it.each([
  ['https://instance.example', /AUDIENCE.*\n(.*\n)?.*https:\/\/instance\.example/],
  [null, /AUDIENCE.*\n(.*\n)?.*not checked/],
])('[5.5.1] shows the audience %s of an entry', (audience, shown) => {
  expect(entriesText([{ ...stored, audience }])).toMatch(shown);
});
