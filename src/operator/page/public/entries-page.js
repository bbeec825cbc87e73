// Whose tokens are taken: every trusted entry, configured and stored.
import { code, h, isolated, mark } from './dom.js';
import { address, read } from './instance-api.js';
import { pageHead } from './shell.js';
import { empty, filled } from './states.js';
import { table } from './table.js';
import { fromNow, momentInWords, time } from './wording.js';

export function entriesPage({ signal }) {
  return [
    pageHead('Trusted entries', {
      lead: 'The issuers whose tokens the instance accepts. Configured entries change with the configuration; stored entries are added and changed here, without a restart.',
      actions: [
        h('a', { class: 'button', href: '#/revocations' }, 'Revocations'),
        h('a', { class: 'button primary', href: '#/entries/new' }, 'Add an entry'),
      ],
    }),
    filled(
      () => read('/entries', { signal }),
      ({ data }) => (data.length === 0 ? nothing() : list(data)),
    ),
  ];
}

function nothing() {
  return empty(
    'No trusted entry yet',
    'Without one every token is refused. Add the issuer of your first partner, with its public key or the address of its key set.',
    h('a', { class: 'button primary', href: '#/entries/new' }, 'Add an entry'),
  );
}

function list(entries) {
  return table(
    'Trusted entries',
    [
      {
        title: 'Entry',
        cell: ({ entry }) => h('a', { href: address('#/entries/?', entry) }, isolated(entry)),
      },
      { title: 'State', cell: stateOf },
      { title: 'Issuer', cell: ({ issuer }) => (issuer === null ? '—' : isolated(issuer)) },
      { title: 'Keys', cell: keysOf },
      { title: 'Until', cell: ({ until }) => time(until, 'no end') },
      { title: 'From', cell: originOf },
      {
        title: 'Next refresh',
        cell: ({ type, keySet }) => (type === 'jwks' ? time(keySet?.nextRefresh, 'not known') : '—'),
      },
    ],
    entries,
  );
}

/** One word, the gravest that is true. */
export function stateOf({ state, keySet, revoked }) {
  if (state === 'refused') return mark('bad', 'Refused');
  if (state === 'suspended') return mark('warn', 'Suspended');
  if (state === 'revoked') return mark('bad', 'Revoked');
  if (state === 'ended') return mark('bad', 'Ended');
  if (keySet?.state === 'never_held' && keySet.reason === null) return mark('warn', 'Not fetched yet');
  if (keySet !== null && keySet.state !== 'held') return mark(...KEY_SET_STATES[keySet.state]);
  if (revoked.length > 0) return mark('warn', 'Keys revoked');
  return mark('good', 'Trusted');
}

const KEY_SET_STATES = {
  never_held: ['bad', 'Never fetched'],
  stale: ['warn', 'Fetch fails'],
  lapsed: ['bad', 'Keys lapsed'],
  no_usable_key: ['bad', 'No usable key'],
};

/** What a key set is worth, to follow its name. */
export function keySetInWords({ state, servesUntil, reason }) {
  switch (state) {
    case 'never_held':
      return reason === null
        ? 'was not fetched yet.'
        : `was never fetched, so its tokens are refused: ${reason}.`;
    case 'held':
      return `serves until ${momentInWords(servesUntil)}, unless it is fetched again.`;
    case 'stale':
      return `cannot be fetched: ${reason}. Its keys serve until ${momentInWords(servesUntil)}.`;
    case 'lapsed':
      return `has lapsed ${fromNow(servesUntil)}, so its tokens are refused: ${reason}.`;
    case 'no_usable_key':
      return `has no usable key, so its tokens are refused: ${reason}.`;
  }
}

export function originOf({ from }) {
  return from === 'command' ? 'Stored' : 'Configuration';
}

function keysOf({ type, keys, keySet }) {
  if (type === null) return '—';
  if (type === 'static') return code(keys.kid);
  return `Key set, ${keySet?.kids.length ?? 0} held`;
}
