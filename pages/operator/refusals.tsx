// The last refusals with cause and remedy, filtered by user, issuer, reason and time; first, whether a person can sign in at all.
import type { ComponentChildren } from 'preact';
import type { AnswerOf } from './api.js';
import { call } from './api.js';
import { Choice, Field, Form } from './form.js';
import type { PageProps } from './navigation.js';
import { address } from './navigation.js';
import { Code, Facts, LinkButton, Name, PageHead, TimeFromNow, UserLink, WholeTime } from './parts.js';
import { RefusalTable, Why } from './refusal.js';
import { Empty, Loaded, Pages, useSuggested } from './states.js';
import { Table } from './table.js';
import type { Filters } from './trail-search.js';
import { addressOf, bodyOf, filtersIn, search, timesFor } from './trail-search.js';
import { EnabledMark } from './users.js';
import { counted, eventInWords, number, reasonInWords, roleInWords } from './words.js';

type Groups = AnswerOf<'POST /refusals/groups'>;
type Group = Groups['data'][number];

const FILTERS = ['user', 'issuer', 'reason', 'hours'];
const PAGE_SIZE = 25;
/** Up to this number, all groups are open. */
const MAX_OPEN = 2;

export function RefusalsView({ query }: PageProps) {
  const filters = filtersIn(query, FILTERS);
  const { user, issuer, reason = '', hours } = filters;
  return (
    <>
      {user === '' ? (
        <PageHead
          title="Refusals"
          lead="Token exchanges, embedded logins and API calls that were refused, by reason, issuer and key, each with its cause and what to do."
        />
      ) : (
        <PageHead
          title="Why can somebody not sign in?"
          back={{ href: '#/', text: 'Overview' }}
          lead="Shows whether the person can sign in, and what was refused, with causes and remedies."
        />
      )}
      <Form
        button="Search"
        search="filters"
        beside={<LinkButton href="#/refusals">Clear</LinkButton>}
        send={(data) => search('refusals', filters, data)}
        done={() => undefined}
      >
        <Field name="user" label="User" value={user} hint="E-mail address, sub or id" />
        <Field name="issuer" label="Issuer" value={issuer} list="issuers" />
        <Reasons chosen={reason} />
        <Choice name="hours" label="Time" options={timesFor(filters)} value={hours} />
        <Issuers />
      </Form>
      <Loaded load={(signal) => call('POST /refusals/groups', { body: bodyOf(filters), signal })}>
        {(found) => (
          <>
            {found.person !== null && <Person person={found.person} />}
            {found.data.length === 0 ? (
              <None filters={filters} />
            ) : (
              <Grouped found={found} filters={filters} />
            )}
          </>
        )}
      </Loaded>
    </>
  );
}

/** The trusted issuers. */
function useIssuers(): string[] {
  return useSuggested(async (signal) => {
    const { data } = await call('GET /entries', { signal });
    return [...new Set(data.flatMap(({ issuer }) => issuer ?? []))];
  }, []);
}

function Issuers() {
  return (
    <datalist id="issuers">
      {useIssuers().map((issuer) => (
        <option key={issuer} value={issuer} />
      ))}
    </datalist>
  );
}

function Reasons({ chosen }: { chosen: string }) {
  const known = useSuggested(async (signal) => {
    const { data } = await call('GET /reasons', { signal });
    return [...new Set<string>(data.map(({ reason }) => reason))].sort();
  }, []);
  const reasons = chosen === '' || known.includes(chosen) ? known : [chosen, ...known];
  const options = reasons.map((value) => ({ value, text: reasonInWords(value) }));
  return (
    <Choice name="reason" label="Reason" options={[{ value: '', text: 'Any' }, ...options]} value={chosen} />
  );
}

function Person({ person }: { person: NonNullable<Groups['person']> }) {
  const { id, email, enabled, role, links, signIns, sessions } = person;
  return (
    <section class="card padded" aria-label="This person">
      <Facts
        pairs={[
          ['User', <UserLink id={id} email={email} />],
          [
            'State',
            <>
              <EnabledMark isEnabled={enabled} />
              {!enabled && ' Every token of this user is refused until the user is enabled.'}
            </>,
          ],
          ['Role', roleInWords(role)],
          ['Last sign-in', <TimeFromNow at={signIns[0]?.occurredAt} />],
          ['Signed in', counted(sessions, 'embedded session')],
          ['Linked identities', <Links links={links} />],
        ]}
      />
    </section>
  );
}

function Links({ links }: Pick<NonNullable<Groups['person']>, 'links'>) {
  if (links.length === 0)
    return <>none: the first token with this e-mail address links one, if its entry allows it</>;
  return (
    <>
      {links.map(({ issuer, subject }) => (
        <div key={issuer}>
          <Name>{subject}</Name> of <Name>{issuer}</Name>
        </div>
      ))}
    </>
  );
}

/** One line for each group. Its refusals load when it is opened. */
function Grouped({ found, filters }: { found: Groups; filters: Filters }) {
  const { data, total, groups, complete, countedSince } = found;
  return (
    <>
      <p>
        <strong>{number(total)}</strong> refused, in {counted(groups, 'group')} by reason, issuer and key.{' '}
        {!complete && countedSince !== null && (
          <>
            Counted from <WholeTime at={countedSince} /> on: choose a shorter time for all.{' '}
          </>
        )}
        {groups > data.length && `The ${data.length} groups with the newest refusals are shown.`}
      </p>
      {data.length > 1 && <ByReason groups={data} filters={filters} />}
      <Table
        caption="Groups of refusals"
        columns={[
          {
            title: 'Reason',
            cell: ({ reason }) => <ReasonLink reason={reason} filters={filters} />,
          },
          { title: 'Refused', class: 'number', cell: ({ count }) => number(count) },
          { title: 'What', cell: ({ event }) => eventInWords(event) },
          {
            title: 'Issuer',
            cell: ({ issuer }) =>
              issuer ? (
                <a href={addressOf('refusals', { ...filters, issuer })}>
                  <Name>{issuer}</Name>
                </a>
              ) : (
                'none that is trusted'
              ),
          },
          { title: 'Last', class: 'when', cell: ({ lastAt }) => <WholeTime at={lastAt} /> },
        ]}
        rows={data}
        details={(group) => <GroupContent group={group} filters={filters} />}
        isOpen={data.length <= MAX_OPEN}
      />
    </>
  );
}

function ReasonLink({ reason, filters }: { reason: string | null; filters: Filters }) {
  if (reason === null) return <>Refused</>;
  return <a href={addressOf('refusals', { ...filters, reason })}>{reasonInWords(reason)}</a>;
}

function ByReason({ groups, filters }: { groups: readonly Group[]; filters: Filters }) {
  const sums = new Map<string | null, number>();
  for (const { reason, count } of groups) sums.set(reason, (sums.get(reason) ?? 0) + count);
  const rows = [...sums].sort(([, one], [, other]) => other - one);
  const most = rows[0]?.[1];
  return (
    <ul class="card padded bars" role="list" aria-label="Refusals by reason">
      {rows.map(([reason, count]) => (
        <li key={reason}>
          <ReasonLink reason={reason} filters={filters} />
          <progress max={most} value={count} aria-hidden="true" />
          <span class="number">{number(count)}</span>
        </li>
      ))}
    </ul>
  );
}

function GroupContent({ group, filters }: { group: Group; filters: Filters }) {
  const { event, reason, cause, remedy, issuer, kid, count, firstAt } = group;
  const asked = { ...filters, reason: reason ?? '', issuer: issuer ?? '', kid: kid ?? '', event };
  return (
    <div class="refusal">
      <Why cause={cause} remedy={remedy} />
      <p class="soft marks">
        {reason !== null && <code>{reason}</code>}
        {kid && (
          <span>
            Key: <Code>{kid}</Code>
          </span>
        )}
        {count > 1 && (
          <span>
            First: <WholeTime at={firstAt} />
          </span>
        )}
      </p>
      <RefusalPages
        filters={asked}
        limit={PAGE_SIZE}
        isGrouped
        empty={<p class="soft">They are older than the selected time.</p>}
      />
    </div>
  );
}

interface RefusalPagesProps {
  filters: Filters;
  limit: number;
  isGrouped?: boolean;
  empty: ComponentChildren;
}

/** The matching refusals, page by page. */
export function RefusalPages({ filters, limit, isGrouped, empty }: RefusalPagesProps) {
  const body = { ...bodyOf(filters), limit };
  return (
    <Pages
      load={(cursor, signal) => call('POST /refusals/search', { body: { ...body, cursor }, signal })}
      empty={empty}
      ended={(page) => lookedBack(page)}
    >
      {(refusals) => <RefusalTable refusals={refusals} isGrouped={isGrouped} />}
    </Pages>
  );
}

export function lookedBack({ lookedBackTo }: { lookedBackTo: string | null }) {
  return (
    lookedBackTo !== null && (
      <>
        Looked back to <WholeTime at={lookedBackTo} /> so far.
      </>
    )
  );
}

function None({ filters: { user = '', issuer, reason } }: { filters: Filters }) {
  const isNarrowed = user !== '' || issuer !== '' || reason !== '';
  const isId = user !== '' && !user.includes('@');
  return (
    <Empty
      title={isNarrowed ? 'No refusal matches' : 'Nothing was refused'}
      text={user === '' ? NOTHING : NOBODY}
    >
      {user !== '' && <Nearby />}
      {isId && <LinkButton href={address('#/requests/?', user)}>Look for a request of this id</LinkButton>}
      {isNarrowed && <LinkButton href="#/refusals">All refusals</LinkButton>}
    </Empty>
  );
}

const NOTHING = 'Every refused token exchange, embedded login and API call of this time will be listed here.';
const NOBODY =
  'No refused token with a valid signature names this person in this time. Not looked at: tokens whose signature, key or issuer was refused, which name nobody; and requests that were refused before any token was read (answers 400 invalid_request, 413, 415, 429), which stand only in the log, by their request id.';

/** Refusals that may concern this person's tokens. */
function Nearby() {
  return (
    <ul class="nearby">
      {useIssuers().map((issuer) => (
        <li key={issuer}>
          <a href={`#/refusals?${new URLSearchParams({ issuer, hours: '1' })}`}>
            Refusals of <Name>{issuer}</Name> in the last hour
          </a>
        </li>
      ))}
    </ul>
  );
}
