// Revocations of keys and issuers, current and former.
import type { ItemOf } from './api.js';
import { call } from './api.js';
import { ActionButton } from './dialog.js';
import { reload } from './navigation.js';
import { Code, Mark, Name, PageHead, Time } from './parts.js';
import { Loaded } from './states.js';
import { Table } from './table.js';

type Revocation = ItemOf<'GET /revocations'>;

export function RevocationsView() {
  return (
    <>
      <PageHead
        title="Revocations"
        back={{ href: '#/entries', text: 'Trusted entries' }}
        lead="Keys that are no longer trusted. Sessions and access tokens from their tokens have ended. Revoke a key on its entry's page."
      />
      <Loaded load={(signal) => call('GET /revocations', { signal })}>
        {({ data }) => <List all={data} />}
      </Loaded>
    </>
  );
}

function List({ all }: { all: readonly Revocation[] }) {
  return (
    <Table
      caption="Revocations"
      columns={[
        { title: 'Key', cell: ({ kid }) => (kid === null ? 'All keys of the issuer' : <Code>{kid}</Code>) },
        { title: 'Issuer', cell: ({ issuer }) => <Name>{issuer}</Name> },
        {
          title: 'State',
          cell: ({ restoredAt }) =>
            restoredAt === null ? <Mark kind="bad">Revoked</Mark> : <Mark>Restored</Mark>,
        },
        { title: 'Revoked', cell: ({ revokedAt }) => <Time at={revokedAt} /> },
        { title: 'Restored', cell: ({ restoredAt }) => <Time at={restoredAt} otherwise="—" /> },
        {
          title: 'Action',
          class: 'action',
          cell: ({ issuer, kid, restoredAt }) =>
            restoredAt === null && <RestoreButton issuer={issuer} kid={kid} />,
        },
      ]}
      rows={[...all].sort((one, other) => other.revokedAt.localeCompare(one.revokedAt))}
      empty={{
        title: 'Nothing is revoked',
        text: 'Revoked keys are listed here.',
      }}
    />
  );
}

export function RestoreButton({ issuer, kid }: { issuer: string; kid: string | null }) {
  const what = kid === null ? `all keys of ${issuer}` : `the key ${kid}`;
  const said = (stillRevoked: readonly (string | null)[]) => {
    const still = stillRevoked.map((one) => one ?? 'all keys of the issuer');
    reload(`Restored: ${what}.${still.length === 0 ? '' : ` Still revoked: ${still.join(', ')}.`}`);
  };
  return (
    <ActionButton
      title={`Restore ${what}?`}
      label={`Restore ${what}`}
      text="Its tokens are accepted again. Restore only after a mistake, and never a key that has leaked."
      action="Restore"
      isSmall
      run={() => call('POST /revocations/restore', { body: { issuer, kid } })}
      done={({ stillRevoked }) => said(stillRevoked)}
    />
  );
}
