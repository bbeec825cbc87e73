// One user: account, sessions, refusals, and the actions that end access.
import type { AnswerOf } from './api.js';
import { call } from './api.js';
import { ActionButton } from './dialog.js';
import type { PageProps } from './navigation.js';
import { reload } from './navigation.js';
import {
  Code,
  Email,
  Facts,
  LinkButton,
  Name,
  PageHead,
  RequestLink,
  Section,
  Time,
  TimeFromNow,
} from './parts.js';
import { RefusalPages } from './refusals.js';
import { phase } from './session.js';
import { EmbeddedSessions } from './sessions.js';
import { Empty, Loaded } from './states.js';
import { Table } from './table.js';
import { EventTable } from './trail.js';
import { EnabledMark } from './users.js';
import { counted, eventInWords, nameOf, roleInWords, valueInWords } from './words.js';

type User = AnswerOf<'GET /users/:userId'>;

const WEEK_HOURS = 168;
const ENDS = ['session.ended', 'token-exchange.user-signed-out'];

export function UserView({ params: { userId = '' } }: PageProps) {
  return (
    <Loaded load={(signal) => call('GET /users/:userId', { params: { userId }, signal })}>
      {(user) => (
        <>
          <PageHead
            title={<Name>{nameOf(user)}</Name>}
            back={{ href: '#/users', text: 'Users' }}
            actions={<Actions user={user} />}
          />
          <UserFacts user={user} />
          <Section title="Embedded sessions">
            <EmbeddedSessions user={user.id} />
          </Section>
          <Section title="Sessions ended in the last 7 days">
            <EndedSessions user={user.id} />
          </Section>
          <Section title="Refused in the last 7 days">
            <RefusalPages
              filters={{ user: user.id, hours: String(WEEK_HOURS) }}
              limit={10}
              empty={<NothingRefused />}
            />
          </Section>
          <Section title="Last sign-ins">
            <SignIns user={user} />
          </Section>
          <Section title="Linked identities">
            <Links user={user} />
          </Section>
          <Section title="Projects">
            <Projects user={user} />
          </Section>
          <p class="section">
            <a href={`#/trail?${new URLSearchParams({ user: user.id, hours: String(WEEK_HOURS) })}`}>
              All events of this user
            </a>
          </p>
        </>
      )}
    </Loaded>
  );
}

function UserFacts({ user }: { user: User }) {
  const { email, enabled, role, id, createdAt, provisioned, signIns, sessions, operatorSessions } = user;
  return (
    <Facts
      isCard
      pairs={[
        ['E-mail address', <Email>{email}</Email>],
        ['State', <EnabledMark isEnabled={enabled} />],
        ['Role', roleInWords(role)],
        ['Id', <Code>{id}</Code>],
        ['Created', <TimeFromNow at={createdAt} />],
        ['Created by', provisioned ? 'the first token of a partner' : 'a command or another user'],
        ['Last sign-in', <TimeFromNow at={signIns[0]?.occurredAt} />],
        [
          'Signed in',
          `${counted(sessions, 'embedded session')}, ${counted(operatorSessions, 'operator sign-in')}`,
        ],
        ['Operator password', user.hasPassword ? 'set' : 'none'],
      ]}
    />
  );
}

function Actions({ user: { id: userId, email, enabled } }: { user: User }) {
  const params = { userId };
  const isSelf = phase.value.kind === 'in' && phase.value.operator.id === userId;
  return (
    <>
      <ActionButton
        title={`Sign ${email} out everywhere?`}
        text="All sessions of this user end at once, and access tokens that were issued until now are refused. The user can sign in again with a new token of the partner."
        action="Sign out everywhere"
        isDanger
        run={() => call('POST /users/:userId/sign-out', { params })}
        done={({ sessions }) => reload(`Signed out everywhere: ${counted(sessions, 'session')} ended.`)}
      />
      {enabled && !isSelf && (
        <ActionButton
          title={`Disable ${email}?`}
          text="All sessions end at once, and every token about this user is refused, until the user is enabled again."
          action="Disable"
          isDanger
          run={() => call('POST /users/:userId/disable', { params })}
          done={() => reload('The user is disabled.')}
        />
      )}
      {!enabled && (
        <ActionButton
          title={`Enable ${email}?`}
          text="Tokens about this user are accepted again. Sessions that have ended are not restored."
          action="Enable"
          run={() => call('POST /users/:userId/enable', { params })}
          done={() => reload('The user is enabled.')}
        />
      )}
    </>
  );
}

const NOTHING_ENDED = {
  title: 'No session was ended',
  text: 'Sessions that end before they expire are listed here, with the cause.',
};

/** Events that end one session or all sessions. */
function EndedSessions({ user }: { user: string }) {
  const load = async (signal: AbortSignal) => {
    const body = { user, lastHours: WEEK_HOURS, limit: 10 };
    const find = (event: string) => call('POST /events/search', { body: { ...body, event }, signal });
    const found = await Promise.all(ENDS.map(find));
    const events = found.flatMap(({ data }) => data);
    events.sort((one, other) => other.occurredAt.localeCompare(one.occurredAt));
    const people = Object.fromEntries(found.flatMap((page) => Object.entries(page.people)));
    return { events, people };
  };
  return <Loaded load={load}>{(ended) => <EventTable {...ended} empty={NOTHING_ENDED} />}</Loaded>;
}

function NothingRefused() {
  return (
    <Empty
      title="Nothing was refused"
      text="Refused tokens of this user with a valid signature will be listed here. Tokens with a wrong signature or an unknown key name nobody. They are listed among all refusals."
    >
      <LinkButton href="#/refusals">All refusals</LinkButton>
    </Empty>
  );
}

function SignIns({ user: { signIns } }: { user: User }) {
  return (
    <Table
      caption="Last sign-ins"
      columns={[
        { title: 'Sign-in', cell: ({ event }) => eventInWords(event) },
        { title: 'Time', class: 'when', cell: ({ occurredAt }) => <Time at={occurredAt} /> },
        { title: 'Issuer', cell: ({ issuer }) => <Name>{issuer ?? '—'}</Name> },
        { title: 'Request', class: 'when', cell: ({ requestId }) => <RequestLink id={requestId} /> },
      ]}
      rows={signIns}
      empty={{
        title: 'No sign-in',
        text: 'Token exchanges and embedded logins that succeed will be listed here.',
      }}
    />
  );
}

function Projects({ user: { projects } }: { user: User }) {
  return (
    <Table
      caption="Projects"
      columns={[
        { title: 'Project', cell: ({ name }) => <Name>{name}</Name> },
        { title: 'Role', cell: ({ role }) => valueInWords(role) },
        { title: 'Given by', cell: ({ issuer }) => <Name>{issuer ?? 'people'}</Name> },
        {
          title: 'Keys of issuers',
          cell: ({ externalKeys }) =>
            externalKeys.map(({ issuer, key }) => (
              <div key={issuer}>
                <Code>{key}</Code> <Name>{issuer}</Name>
              </div>
            )),
        },
      ]}
      rows={projects}
    />
  );
}

function Links({ user: { links } }: { user: User }) {
  return (
    <Table
      caption="Linked identities"
      columns={[
        { title: 'Subject (sub)', cell: ({ subject }) => <Code>{subject}</Code> },
        { title: 'Issuer', cell: ({ issuer }) => <Name>{issuer}</Name> },
        { title: 'Linked', cell: ({ linkedAt }) => <Time at={linkedAt} otherwise="not known" /> },
      ]}
      rows={links}
      empty={{
        title: 'No linked identity',
        text: "A partner's user is linked by the first token that is accepted.",
      }}
    />
  );
}
