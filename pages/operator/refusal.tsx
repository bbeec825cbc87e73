// Refusals in words: time, subject, cause and remedy.
import type { ComponentChildren } from 'preact';
import type { AnswerOf, ItemOf } from './api.js';
import { address } from './navigation.js';
import { Code, Mark, Name, RequestLink, Sentence, Soft, TimeFromNow, WholeTime } from './parts.js';
import { Table } from './table.js';
import { eventInWords, reasonInWords } from './words.js';

export type Refusal = ItemOf<'POST /refusals/search'>;
type ExplainedEvent = AnswerOf<'GET /requests/:requestId'>['events'][number];

/** A property of an event, if it is a string. */
function textOf(payload: ExplainedEvent['payload'], name: string): string | undefined {
  const value = payload[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

interface TableProps {
  refusals: readonly Refusal[];
  /** The heading has reason, cause and remedy for all of them. */
  isGrouped?: boolean;
}

/** A table with one line for each refusal. */
export function RefusalTable({ refusals, isGrouped = false }: TableProps) {
  return (
    <Table
      caption="Refusals"
      columns={[
        !isGrouped && { title: 'Reason', cell: ({ reason }) => reasonInWords(reason ?? 'refused') },
        { title: 'Time', class: 'when', cell: ({ occurredAt }) => <WholeTime at={occurredAt} /> },
        !isGrouped && {
          title: 'Issuer',
          cell: ({ payload }) => <Name>{textOf(payload, 'issuer') ?? '—'}</Name>,
        },
        {
          title: 'Found',
          cell: ({ payload }) => <Name>{textOf(payload, 'found') ?? textOf(payload, 'detail') ?? '—'}</Name>,
        },
        { title: 'Request', class: 'when', cell: ({ requestId }) => <RequestLink id={requestId} /> },
      ]}
      rows={refusals}
      details={(refusal) => (
        <div class="refusal">
          <RefusalContent refusal={refusal} requestId={refusal.requestId} isGrouped={isGrouped} />
        </div>
      )}
      isOpen={isGrouped && refusals.length === 1}
    />
  );
}

interface ContentProps {
  refusal: ExplainedEvent;
  /** Omitted if the view is about one request. */
  requestId?: string;
  isGrouped?: boolean;
}

export function RefusalContent({ refusal, requestId, isGrouped = false }: ContentProps) {
  const { event, occurredAt, reason, cause, remedy, payload } = refusal;
  const [expected, found, detail] = ['expected', 'found', 'detail'].map((name) => textOf(payload, name));
  return (
    <>
      <div class="refusal-head">
        {!isGrouped && <ReasonMark reason={reason} />}
        {!isGrouped && <span>{eventInWords(event)}</span>}
        <Soft>
          <TimeFromNow at={occurredAt} />
        </Soft>
      </div>
      <Why {...(!isGrouped && { cause, remedy })} detail={detail} expected={expected} found={found} />
      <Marks refusal={refusal} requestId={requestId} />
    </>
  );
}

type WhyProps = Partial<Record<'cause' | 'detail' | 'expected' | 'found' | 'remedy', string | null>>;

/** Cause, values and remedy, as far as they are known. */
export function Why({ cause, detail, expected, found, remedy }: WhyProps) {
  return (
    <>
      {cause && (
        <p class="cause">
          <Sentence text={cause} />
        </p>
      )}
      {detail && (
        <p>
          <Sentence text={detail} />
        </p>
      )}
      <Comparison expected={expected} found={found} />
      {remedy && (
        <p class="remedy">
          <strong>What to do: </strong>
          <Sentence text={remedy} />
        </p>
      )}
    </>
  );
}

/** A reason in words, with its code in logs and documents. */
export function ReasonMark({ reason }: { reason: string | null }) {
  return (
    <>
      <Mark kind="bad">{reasonInWords(reason ?? 'refused')}</Mark>
      {reason !== null && <code class="soft">{reason}</code>}
    </>
  );
}

/** Links to further views. */
function Marks({ refusal, requestId }: Pick<ContentProps, 'refusal' | 'requestId'>) {
  const { check, subjectUserId, payload } = refusal;
  const [party, issuer, kid, clientId] = ['party', 'issuer', 'kid', 'clientId'].map((name) =>
    textOf(payload, name),
  );
  const user = subjectUserId ?? textOf(payload, 'userId');
  const marks: [term: string, value: ComponentChildren][] = [
    ['Check', check],
    ['Token', party],
    ['Issuer', issuer && <Name>{issuer}</Name>],
    ['Key', kid && <Code>{kid}</Code>],
    ['Client', clientId && <Name>{clientId}</Name>],
    ['User', user ? <a href={address('#/users/?', user)}>to the user</a> : !clientId && 'no account'],
    ['Request', requestId && <RequestLink id={requestId} />],
  ];
  return (
    <p class="soft marks">
      {marks.map(
        ([term, value]) =>
          value && (
            <span key={term}>
              {term}: {value}
            </span>
          ),
      )}
    </p>
  );
}

/** Side by side. */
export function Comparison({ expected, found }: Pick<WhyProps, 'expected' | 'found'>) {
  if ((expected ?? found ?? undefined) === undefined) return null;
  const pairs = [
    ['Expected', expected],
    ['Found', found],
  ];
  return (
    <dl class="comparison">
      {pairs.map(([term, value]) => (
        <div key={term}>
          <dt>{term}</dt>
          <dd>
            <Name>{value ?? '—'}</Name>
          </dd>
        </div>
      ))}
    </dl>
  );
}
