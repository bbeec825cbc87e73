// One trusted entry: what its tokens may do, its keys, and how trust in it is changed or taken back.
import type { AnswerOf, ItemOf } from './api.js';
import { call } from './api.js';
import { ActionButton } from './dialog.js';
import { EntryState, ORIGINS } from './entries.js';
import { EntryKeys } from './entry-keys.js';
import { address, goTo, reload } from './navigation.js';
import type { PageProps } from './page-props.js';
import { Card, Code, Facts, Name, PageHead, Phrases, Section, TimeFromNow } from './parts.js';
import { Empty, Loaded } from './states.js';

export type Entry = ItemOf<'GET /entries'>;

const BACK = { href: '#/entries', text: 'Trusted entries' };

export function EntryView({ params: { entry: label = '' }, query }: PageProps) {
  const load = async (signal: AbortSignal) => {
    const [{ data }, overview] = await Promise.all([
      call('GET /entries', { signal }),
      query.has('added') ? call('GET /overview', { signal }) : null,
    ]);
    return { entry: data.find(({ entry }) => entry === label), overview };
  };
  return (
    <Loaded load={load}>
      {({ entry, overview }) =>
        entry === undefined ? (
          <Missing label={label} />
        ) : (
          <>
            {overview !== null && <ForPartner entry={entry} overview={overview} />}
            <Whole entry={entry} />
          </>
        )
      }
    </Loaded>
  );
}

/** What the partner has to know, once an entry was added. */
function ForPartner({ entry, overview }: { entry: Entry; overview: AnswerOf<'GET /overview'> }) {
  const { issuer, keys, audience } = entry;
  const { baseUrl, tokenExchange } = overview;
  const { exchange, embedLogin } = tokenExchange;
  return (
    <section class="card padded outcome good">
      <h2>The entry was added. Send this to the partner</h2>
      <Facts
        pairs={[
          ['iss of its tokens', issuer !== null && <Name>{issuer}</Name>],
          ['aud of its tokens', <Name>{audience ?? baseUrl}</Name>],
          ['kid of its tokens', keys !== null && <KidOf keys={keys} />],
          ['Token exchange', exchange && <Name>{`POST ${baseUrl}/rest/auth/oauth/token`}</Name>],
          ['Embedded login', embedLogin && <Name>{`POST ${baseUrl}/rest/auth/embed`}</Name>],
          [
            'Lifetime of a token',
            '60 s at most for an embedded login; each is good once, with a jti of its own',
          ],
          ['Requests and answers', <a href={`${baseUrl}/api/v1/docs`}>{`${baseUrl}/api/v1/docs`}</a>],
        ]}
      />
    </section>
  );
}

function KidOf({ keys }: { keys: NonNullable<Entry['keys']> }) {
  if ('kid' in keys) return <Code>{keys.kid}</Code>;
  return (
    <>
      that of a key at <Name>{keys.url}</Name>
    </>
  );
}

function Missing({ label }: { label: string }) {
  return (
    <>
      <PageHead title={<Name>{label}</Name>} back={BACK} />
      <Empty title="This entry is not there" text="It was removed, or it was renamed.">
        <a class="button" href="#/entries">
          All trusted entries
        </a>
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
      <Card>
        <EntryFacts entry={entry} />
      </Card>
      {policy.length > 0 && (
        <Section title="What its tokens may do">
          <Phrases items={policy} />
        </Section>
      )}
      <EntryKeys entry={entry} />
      {from === 'configuration' && (
        <p class="soft as-of">
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
      <a class="button" href={address('#/entries/?/change', label)}>
        Change
      </a>
      {type === 'static' && (
        <a class="button" href={address('#/entries/?/another-key', label)}>
          Add another key
        </a>
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
          text="From now on, all instances refuse every token that the keys of this entry have signed. Existing sessions and access tokens stay valid. Resuming the entry ends this."
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
