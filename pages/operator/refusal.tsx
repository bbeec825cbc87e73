// Refusals in words: time, subject, cause and remedy.
import type { AnswerOf, ItemOf } from './api.js';
import { address } from './navigation.js';
import { Code, Mark, Name, Sentence, Soft, TimeFromNow, WholeTime } from './parts.js';
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
        !isGrouped && {
          title: 'Reason',
          cell: ({ reason }) => reasonInWords(reason ?? 'refused'),
        },
        { title: 'Time', class: 'when', cell: ({ occurredAt }) => <WholeTime at={occurredAt} /> },
        !isGrouped && {
          title: 'Issuer',
          cell: ({ payload }) => <Name>{textOf(payload, 'issuer') ?? '—'}</Name>,
        },
        {
          title: 'Found',
          cell: ({ payload }) => <Name>{textOf(payload, 'found') ?? textOf(payload, 'detail') ?? '—'}</Name>,
        },
        {
          title: 'Request',
          cell: ({ requestId }) => (
            <a href={address('#/requests/?', requestId)}>
              <Code>{requestId}</Code>
            </a>
          ),
        },
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
        {!isGrouped && (
          <>
            <ReasonMark reason={reason} />
            <span>{eventInWords(event)}</span>
          </>
        )}
        <Soft>
          <TimeFromNow at={occurredAt} />
        </Soft>
      </div>
      {!isGrouped && cause !== null && (
        <p class="cause">
          <Sentence text={cause} />
        </p>
      )}
      {detail !== undefined && (
        <p>
          <Sentence text={detail} />
        </p>
      )}
      <Comparison expected={expected} found={found} />
      {!isGrouped && remedy !== null && <Remedy text={remedy} />}
      <Marks refusal={refusal} requestId={requestId} />
    </>
  );
}

export function Remedy({ text }: { text: string }) {
  return (
    <p class="remedy">
      <strong>What to do: </strong>
      <Sentence text={text} />
    </p>
  );
}

/** A reason in words, with its code in logs and documents. */
export function ReasonMark({ reason }: { reason: string | null }) {
  if (reason === null) return <Mark kind="bad">Refused</Mark>;
  return (
    <>
      <Mark kind="bad">{reasonInWords(reason)}</Mark>
      <code class="soft">{reason}</code>
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
  const href = user === undefined ? undefined : address('#/users/?', user);
  return (
    <p class="soft marks">
      {check !== null && <span>Check: {check}</span>}
      {party && <span>Token: {party}</span>}
      {issuer && (
        <span>
          Issuer: <Name>{issuer}</Name>
        </span>
      )}
      {kid && (
        <span>
          Key: <Code>{kid}</Code>
        </span>
      )}
      {clientId && (
        <span>
          Client: <Name>{clientId}</Name>
          {href && (
            <>
              , for <a href={href}>this user</a>
            </>
          )}
        </span>
      )}
      {!clientId && <span>User: {href ? <a href={href}>to the user</a> : 'no account'}</span>}
      {requestId !== undefined && (
        <span>
          Request:{' '}
          <a href={address('#/requests/?', requestId)}>
            <Code>{requestId}</Code>
          </a>
        </span>
      )}
    </p>
  );
}

/** The expected and the found value. */
export function Comparison({ expected, found }: Partial<Record<'expected' | 'found', string | null>>) {
  if ((expected ?? found ?? undefined) === undefined) return null;
  return (
    <dl class="comparison">
      <div>
        <dt>Expected</dt>
        <dd>
          <Name>{expected ?? '—'}</Name>
        </dd>
      </div>
      <div>
        <dt>Found</dt>
        <dd>
          <Name>{found ?? '—'}</Name>
        </dd>
      </div>
    </dl>
  );
}
