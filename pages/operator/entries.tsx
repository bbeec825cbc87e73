// The list of trusted entries, configured and stored.
import type { ItemOf } from './api.js';
import { call } from './api.js';
import { Code, EntryLink, LinkButton, Mark, Name, PageHead, Time } from './parts.js';
import { Loaded } from './states.js';
import { Table } from './table.js';

type Entry = ItemOf<'GET /entries'>;

const ADD = (
  <>
    <LinkButton href="#/entries/new">Add as JSON</LinkButton>
    <a class="button primary" href="#/entries/add-partner">
      Add a partner
    </a>
  </>
);

export function EntriesView() {
  return (
    <>
      <PageHead
        title="Trusted entries"
        lead="The issuers whose tokens the instance accepts. Configured entries change with the configuration; stored entries are added and changed here, without a restart."
        actions={
          <>
            <LinkButton href="#/revocations">Revocations</LinkButton>
            {ADD}
          </>
        }
      />
      <Loaded load={(signal) => call('GET /entries', { signal })}>
        {({ data }) => <List entries={data} />}
      </Loaded>
    </>
  );
}

const NOTHING =
  'Without one every token is refused. Add the issuer of your first partner, with its public key or the address of its key set.';

function List({ entries }: { entries: readonly Entry[] }) {
  return (
    <Table
      caption="Trusted entries"
      columns={[
        { title: 'Entry', cell: ({ entry }) => <EntryLink label={entry} /> },
        { title: 'State', cell: (entry) => <EntryState entry={entry} /> },
        { title: 'Issuer', cell: ({ issuer }) => <Name>{issuer ?? '—'}</Name> },
        { title: 'Keys', cell: (entry) => <Keys entry={entry} /> },
        { title: 'Until', cell: ({ until }) => <Time at={until} otherwise="no end" /> },
        { title: 'From', cell: ({ from }) => ORIGINS[from] },
        {
          title: 'Next refresh',
          cell: ({ type, keySet }) =>
            type === 'jwks' ? <Time at={keySet?.nextRefresh} otherwise="not known" /> : '—',
        },
      ]}
      rows={entries}
      empty={{ title: 'No trusted entry yet', text: NOTHING, children: ADD }}
    />
  );
}

export const ORIGINS = { command: 'Stored', configuration: 'Configuration' } as const;

const STATES = {
  refused: <Mark kind="bad">Refused</Mark>,
  suspended: <Mark kind="warn">Suspended</Mark>,
  revoked: <Mark kind="bad">Revoked</Mark>,
  ended: <Mark kind="bad">Ended</Mark>,
} as const;

const KEY_SET_STATES = {
  never_held: <Mark kind="bad">Never fetched</Mark>,
  stale: <Mark kind="warn">Fetch fails</Mark>,
  lapsed: <Mark kind="bad">Keys lapsed</Mark>,
  no_usable_key: <Mark kind="bad">No usable key</Mark>,
} as const;

/** The most severe state that applies, in one word. */
export function EntryState({
  entry: { state, keySet, revoked },
}: {
  entry: Pick<Entry, 'state' | 'keySet' | 'revoked'>;
}) {
  if (state !== 'trusted') return STATES[state];
  if (keySet?.state === 'never_held' && keySet.reason === null)
    return <Mark kind="warn">Not fetched yet</Mark>;
  if (keySet !== null && keySet.state !== 'held') return KEY_SET_STATES[keySet.state];
  if (revoked.length > 0) return <Mark kind="warn">Keys revoked</Mark>;
  return <Mark kind="good">Trusted</Mark>;
}

function Keys({ entry: { keys, keySet } }: { entry: Entry }) {
  if (keys === null) return <>—</>;
  if ('kid' in keys) return <Code>{keys.kid}</Code>;
  return <>Key set, {keySet?.kids.length ?? 0} held</>;
}
