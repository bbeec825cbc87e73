// An entry's keys: its fetched key set, and each key with thumbprint and revocation.
import { call } from './api.js';
import { ActionButton } from './dialog.js';
import type { Entry } from './entry.js';
import { reload } from './navigation.js';
import { Card, Code, Facts, Mark, Name, Section, Sentence, Soft, TimeFromNow } from './parts.js';
import { RestoreButton } from './revocations.js';
import { Table } from './table.js';
import { keySetInWords } from './words.js';

interface Key {
  /** Null means all keys of the issuer. */
  kid: string | null;
  isHeld: boolean;
  thumbprint?: string | null;
}

export function EntryKeys({ entry }: { entry: Entry }) {
  const { issuer, keys, revoked } = entry;
  if (keys === null || issuer === null) return null;
  return (
    <Section title="Keys">
      {'url' in keys && <KeySetCard entry={entry} />}
      <Table
        caption="Keys"
        columns={[
          { title: 'Key', cell: ({ kid }) => (kid === null ? 'All keys of the issuer' : <Code>{kid}</Code>) },
          { title: 'Thumbprint', cell: ({ thumbprint }) => (thumbprint ? <Code>{thumbprint}</Code> : '—') },
          { title: 'State', cell: (key) => <KeyState wanted={key} revoked={revoked} /> },
          {
            title: 'Action',
            class: 'action',
            cell: ({ kid }) =>
              revoked.some((one) => one.kid === kid) ? (
                <RestoreButton issuer={issuer} kid={kid} />
              ) : (
                <RevokeButton issuer={issuer} kid={kid} />
              ),
          },
        ]}
        rows={keysOf(entry)}
      />
    </Section>
  );
}

/** The held keys, the revoked keys, and one row for all keys of the issuer. */
function keysOf({ keys, keySet, revoked }: Entry): Key[] {
  const own = keys !== null && 'kid' in keys ? [keys] : [];
  const fetched = (keySet?.kids ?? []).map((kid, index) => ({ kid, thumbprint: keySet?.thumbprints[index] }));
  const held: Key[] = [...own, ...fetched].map(({ kid, thumbprint }) => ({ kid, thumbprint, isHeld: true }));
  const isKnown = (kid: string | null) => kid === null || held.some((key) => key.kid === kid);
  const others = revoked.filter(({ kid }) => !isKnown(kid)).map(({ kid }) => ({ kid, isHeld: false }));
  return [...held, ...others, { kid: null, isHeld: held.length > 0 }];
}

function KeyState({ wanted, revoked }: { wanted: Key; revoked: Entry['revoked'] }) {
  const { kid, isHeld } = wanted;
  const revocation = revoked.find((one) => one.kid === kid);
  const isWhole = revoked.some((one) => one.kid === null);
  if (revocation !== undefined)
    return (
      <>
        <Mark kind="bad">Revoked</Mark> <TimeFromNow at={revocation.revokedAt} />
      </>
    );
  if (isWhole && kid !== null) return <Mark kind="bad">Revoked with its issuer</Mark>;
  if (kid === null) return <Soft>{isHeld ? 'Not revoked' : 'No key is held'}</Soft>;
  return isHeld ? <Mark kind="good">Held</Mark> : <Soft>Not held</Soft>;
}

function KeySetCard({ entry: { entry: name, keySet } }: { entry: Entry }) {
  const { lastFailure } = keySet ?? {};
  return (
    <Card>
      <Facts
        pairs={[
          ['State', keySet && <Sentence text={keySetInWords(keySet)} />],
          ['Last fetched', <TimeFromNow at={keySet?.lastSuccess} />],
          ['Next refresh', <TimeFromNow at={keySet?.nextRefresh} otherwise="not known" />],
          [
            'Last failure',
            lastFailure ? (
              <>
                <TimeFromNow at={lastFailure.at} />: <Name>{lastFailure.reason}</Name>
              </>
            ) : (
              'none'
            ),
          ],
        ]}
      />
      <ActionButton
        title="Fetch the keys now?"
        text="The leader fetches the key set within seconds. The fetched keys replace the present ones."
        action="Fetch now"
        run={() => call('POST /entries/:name/refresh', { params: { name } })}
        done={({ failure }) =>
          reload(failure === null ? 'The key set was fetched.' : `The key set was not fetched: ${failure}.`)
        }
      />
    </Card>
  );
}

function RevokeButton({ issuer, kid }: { issuer: string; kid: string | null }) {
  const what = kid === null ? `all keys of ${issuer}` : `the key ${kid}`;
  return (
    <ActionButton
      title={`Revoke ${what}?`}
      label={`Revoke ${what}`}
      text="All instances refuse tokens signed with this key, whichever entry trusts it. Sessions and access tokens from them end at once. If you restore the key, new tokens are accepted, but sessions and access tokens stay ended."
      action="Revoke"
      isDanger
      isSmall
      run={() => call('POST /revocations', { body: { issuer, kid } })}
      done={() => reload(`Revoked: ${what}.`)}
    />
  );
}
