// Current sessions in partners' products and at this page, and the actions that end them.
import { useState } from 'preact/hooks';
import type { AnswerOf, ItemOf } from './api.js';
import { call } from './api.js';
import { ActionButton } from './dialog.js';
import { Field, Form } from './form.js';
import { textsIn } from './form-data.js';
import { reload } from './navigation.js';
import { Card, Email, Mark, Name, PageHead, Section, Soft, Time, UserLink } from './parts.js';
import { Plot } from './plot.js';
import { Empty, Loaded, Pages } from './states.js';
import { Table } from './table.js';
import { counted, duration } from './words.js';

type Session = ItemOf<'POST /sessions/search'>;
type OperatorSession = ItemOf<'GET /operator-sessions'>;

const PAGE_SIZE = 25;

export function SessionsView() {
  const [asked, setAsked] = useState<Record<string, string>>({});
  return (
    <>
      <PageHead
        title="Sessions"
        lead="The newest first. To end all sessions of one user at once, open the user."
      />
      <Section title="Embedded sessions">
        <Form
          button="Search"
          search="filters"
          send={async (data) => textsIn(data)}
          done={({ user = '', issuer = '' }) =>
            setAsked({ ...(user && { user }), ...(issuer && { issuer }) })
          }
        >
          <Field name="user" label="User" type="search" hint="The beginning of an e-mail address, or an id" />
          <Field
            name="issuer"
            label="Issuer"
            type="search"
            hint="The issuer of its tokens, character by character"
          />
        </Form>
        <EmbeddedSessions {...asked} />
      </Section>
      <Section title="Operator sign-ins">
        <OperatorSessions />
      </Section>
      <Section title="Embedded sessions over the last day">
        <Loaded load={(signal) => call('GET /sessions/history', { signal })}>
          {(data) => <History data={data} />}
        </Loaded>
      </Section>
    </>
  );
}

/** The embedded sessions of the requested users. */
export function EmbeddedSessions(asked: { user?: string; issuer?: string }) {
  return (
    <Pages
      load={(cursor, signal) =>
        call('POST /sessions/search', { body: { ...asked, cursor, limit: PAGE_SIZE }, signal })
      }
      by={asked}
      empty={
        <Empty title="No session" text="Sessions are listed here from the embedded login until they end." />
      }
    >
      {(sessions) => <SessionTable sessions={sessions} />}
    </Pages>
  );
}

const END = {
  text: "The page in the partner's product loses its access at once. The user can sign in again with a new token of the partner.",
  action: 'End',
  isDanger: true,
  isSmall: true,
} as const;

function SessionTable({ sessions }: { sessions: readonly Session[] }) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const choose = (ids: readonly string[], isChosen: boolean) => {
    const next = new Set(chosen);
    for (const id of ids)
      if (isChosen) next.add(id);
      else next.delete(id);
    setChosen(next);
  };
  const all = sessions.map(({ id }) => id);
  return (
    <>
      {sessions.length > 1 && <Selection all={all} chosen={chosen} choose={choose} />}
      <Table
        caption="Embedded sessions"
        columns={[
          {
            title: 'User',
            cell: ({ id, user }) => (
              <span class="check">
                {sessions.length > 1 && (
                  <input
                    type="checkbox"
                    checked={chosen.has(id)}
                    aria-label={`Choose the session of ${user.email}`}
                    onChange={({ currentTarget }) => choose([id], currentTarget.checked)}
                  />
                )}
                <UserLink {...user} />
              </span>
            ),
          },
          {
            title: 'Logged in from',
            cell: ({ loginOrigin }) =>
              loginOrigin === null ? <Soft>not named</Soft> : <Name>{loginOrigin}</Name>,
          },
          { title: 'Issuer', cell: ({ issuers }) => <Name>{issuers.join(', ')}</Name> },
          { title: 'Opened', class: 'when', cell: ({ openedAt }) => <Time at={openedAt} /> },
          { title: 'Ends', class: 'when', cell: ({ expiresAt }) => <Time at={expiresAt} /> },
          { title: 'Action', class: 'action', cell: (session) => <EndSession session={session} /> },
        ]}
        rows={sessions}
      />
    </>
  );
}

function EndSession({ session: { id, user } }: { session: Session }) {
  const what = `session of ${user.email}`;
  return (
    <ActionButton
      {...END}
      title={`End the ${what}?`}
      label={`End the ${what}`}
      run={() => call('DELETE /sessions/:id', { params: { id } })}
      done={() => reload('It has ended.')}
    />
  );
}

interface SelectionProps {
  all: readonly string[];
  chosen: ReadonlySet<string>;
  choose: (ids: readonly string[], isChosen: boolean) => void;
}

/** Selects all visible sessions, and ends the selected ones. */
function Selection({ all, chosen, choose }: SelectionProps) {
  const isWhole = all.every((id) => chosen.has(id));
  const what = counted(chosen.size, 'chosen session');
  const end = async () => {
    for (const id of chosen) await call('DELETE /sessions/:id', { params: { id } });
  };
  return (
    <div class="selection">
      <label class="check">
        <input type="checkbox" checked={isWhole} onChange={() => choose(all, !isWhole)} />
        <span>Choose all {all.length} that are shown</span>
      </label>
      {chosen.size > 0 && (
        <ActionButton
          title={`End ${what}?`}
          text="The pages in the partners' products lose their access at once. The users can sign in again with new tokens."
          action={`End ${what}`}
          isDanger
          isSmall
          run={end}
          done={() => reload(`${counted(chosen.size, 'session')} ended.`)}
        />
      )}
    </div>
  );
}

function OperatorSessions() {
  return (
    <Pages
      load={(cursor, signal) => call('GET /operator-sessions', { query: { cursor }, signal })}
      empty={<Empty title="Nobody" text="Operators who are signed in will be listed here." />}
    >
      {(sessions) => <OperatorSessionTable sessions={sessions} />}
    </Pages>
  );
}

function OperatorSessionTable({ sessions }: { sessions: readonly OperatorSession[] }) {
  return (
    <Table
      caption="Operator sign-ins"
      columns={[
        {
          title: 'Operator',
          cell: ({ user, current }) => (
            <>
              <Email>{user.email}</Email> {current && <Mark kind="good">This one</Mark>}
            </>
          ),
        },
        { title: 'Address', cell: ({ clientAddress }) => clientAddress },
        { title: 'Opened', class: 'when', cell: ({ openedAt }) => <Time at={openedAt} /> },
        { title: 'Last used', class: 'when', cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
        { title: 'Ends', class: 'when', cell: ({ expiresAt }) => <Time at={expiresAt} /> },
        {
          title: 'Action',
          class: 'action',
          cell: ({ id, user, current }) =>
            current ? (
              <Soft>Sign out ends it</Soft>
            ) : (
              <ActionButton
                {...END}
                title={`End the sign-in of ${user.email}?`}
                label={`End the sign-in of ${user.email}`}
                text="Whoever uses it is asked to sign in again at the next click."
                run={() => call('DELETE /operator-sessions/:id', { params: { id } })}
                done={() => reload('It has ended.')}
              />
            ),
        },
      ]}
      rows={sessions}
    />
  );
}

/** As far as the trail shows. */
function History({ data }: { data: AnswerOf<'GET /sessions/history'> }) {
  const { since, until, lifetimeSeconds, buckets } = data;
  const bars = buckets.map(({ live, complete, ...bucket }) => ({
    ...bucket,
    known: complete,
    values: [live],
  }));
  return (
    <>
      <Card>
        <Plot
          bars={bars}
          label={`Live sessions from ${since} to ${until}`}
          unit="at the end of each bar"
          series={[{ title: 'Live sessions', colour: 'passed' }]}
        />
      </Card>
      <p class="soft">
        Counted from the logins and ends in the audit trail, with the lifetime of {duration(lifetimeSeconds)}{' '}
        that is set now.
      </p>
    </>
  );
}
