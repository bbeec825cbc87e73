// One trusted entry: permissions, keys, and the actions that change or end trust.
import type { ItemOf } from './api.js';
import { call } from './api.js';
import { ActionButton } from './dialog.js';
import { EntryState, ORIGINS } from './entries.js';
import { EntryKeys } from './entry-keys.js';
import type { PageProps } from './navigation.js';
import { address, goTo, reload } from './navigation.js';
import { Facts, LinkButton, Name, PageHead, Phrases, Section, TimeFromNow } from './parts.js';
import { Empty, Loaded } from './states.js';

export type Entry = ItemOf<'GET /entries'>;

const BACK = { href: '#/entries', text: 'Trusted entries' };

export function EntryView({ params: { entry: label = '' } }: PageProps) {
  return (
    <Loaded load={(signal) => call('GET /entries', { signal })}>
      {({ data }) => {
        const entry = data.find((one) => one.entry === label);
        return entry === undefined ? <Missing label={label} /> : <Whole entry={entry} />;
      }}
    </Loaded>
  );
}

function Missing({ label }: { label: string }) {
  return (
    <>
      <PageHead title={<Name>{label}</Name>} back={BACK} />
      <Empty title="This entry does not exist" text="It was removed, or it was renamed.">
        <LinkButton href="#/entries">All trusted entries</LinkButton>
      </Empty>
    </>
  );
}

function Whole({ entry }: { entry: Entry }) {
  const { entry: label, problems, policy, from } = entry;
  return (
    <>
      <PageHead title={<Name>{label}</Name>} back={BACK} actions={<Actions entry={entry} />} />
      {problems.length > 0 && (
        <div class="card padded flash bad">
          <strong>None of its tokens is accepted:</strong>
          <Phrases items={problems} look="phrases" />
        </div>
      )}
      <EntryFacts entry={entry} />
      {policy.length > 0 && (
        <Section title="What its tokens may do">
          <Phrases items={policy} />
        </Section>
      )}
      <EntryKeys entry={entry} />
      {from === 'configuration' && (
        <p class="soft">
          This entry stands in the configuration (<code>SVC_TOKEN_EXCHANGE_TRUSTED_KEYS</code>). Change it
          there; the instance reads it when it starts. Its keys can be revoked here.
        </p>
      )}
    </>
  );
}

function EntryFacts({ entry }: { entry: Entry }) {
  const { keys, issuer, changedAt, until, from } = entry;
  return (
    <Facts
      isCard
      pairs={[
        ['State', <EntryState entry={entry} />],
        ['Issuer', issuer !== null && <Name>{issuer}</Name>],
        ['Until', <TimeFromNow at={until} otherwise="no end" />],
        ['From', ORIGINS[from]],
        ['Last change', changedAt !== null && <TimeFromNow at={changedAt} />],
        ['Keys', keys !== null && <KeyPlace keys={keys} />],
      ]}
    />
  );
}

function KeyPlace({ keys }: { keys: NonNullable<Entry['keys']> }) {
  if ('kid' in keys) return <>One public key</>;
  return (
    <>
      Key set at <Name>{keys.url}</Name>
    </>
  );
}

function Actions({ entry: { entry: label, name, state, type } }: { entry: Entry }) {
  if (name === null) return null;
  const params = { name };
  const said = (text: string) => (result: { warnings: readonly string[] }) =>
    reload([text, ...result.warnings].join(' '));
  return (
    <>
      <LinkButton href={address('#/entries/?/change', label)}>Change</LinkButton>
      {type === 'static' && (
        <LinkButton href={address('#/entries/?/another-key', label)}>Add another key</LinkButton>
      )}
      {state === 'suspended' && (
        <ActionButton
          title={`Resume ${name}?`}
          text="From now on its tokens are accepted again, under the policy of the entry."
          action="Resume"
          run={() => call('POST /entries/:name/resume', { params })}
          done={said('The entry is trusted again.')}
        />
      )}
      {['trusted', 'revoked', 'ended'].includes(state) && (
        <ActionButton
          title={`Suspend ${name}?`}
          text="From now on, all instances refuse every token that the keys of this entry have signed. Existing sessions and access tokens stay valid. Resume the entry to accept its tokens again."
          action="Suspend"
          run={() => call('POST /entries/:name/suspend', { params })}
          done={said('The entry was suspended: its tokens are refused.')}
        />
      )}
      <ActionButton
        title={`Remove ${name}?`}
        text="Its tokens are refused, and its issuer, keys and policy are deleted. Existing sessions stay valid, and users stay. To undo this, add the entry again."
        action="Remove"
        isDanger
        run={() => call('DELETE /entries/:name', { params })}
        done={() => goTo('#/entries')}
      />
    </>
  );
}
