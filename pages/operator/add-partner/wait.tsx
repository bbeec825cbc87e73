// Step 4 of "Add a partner": the wait for its first token, with each request.
import { useEffect, useState } from 'preact/hooks';
import { News } from '../../shared/states.js';
import { isSignedOut } from '../api.js';
import { address } from '../navigation.js';
import { Arrival, Card, Mark, Name, Section, Time, WithCode } from '../parts.js';
import { ProblemPlace } from '../states.js';
import { Table } from '../table.js';
import { eventInWords, sentenceOf } from '../words.js';
import type { Goal, Request } from './first-token.js';
import { reachedIn, waitForFirstToken } from './first-token.js';

const GOALS = { embed: 'An embedded login', exchange: 'A token exchange' } as const;

export function WaitStep({ issuer, goals }: { issuer: string; goals: readonly Goal[] }) {
  const [round, setRound] = useState(0);
  return (
    <Section title="4. Wait for the first token">
      {round === 0 ? (
        <Card>
          <p>Run the code of the partner, then let this page look for its requests for ten minutes.</p>
          <div class="buttons">
            <button type="button" class="primary" onClick={() => setRound(1)}>
              I am ready
            </button>
          </div>
        </Card>
      ) : (
        <Waiting key={round} issuer={issuer} goals={goals} again={() => setRound(round + 1)} />
      )}
    </Section>
  );
}

interface WaitingProps {
  issuer: string;
  goals: readonly Goal[];
  again: () => void;
}

function Waiting({ issuer, goals, again }: WaitingProps) {
  const [requests, setRequests] = useState<readonly Request[]>([]);
  const [state, setState] = useState<'waiting' | 'done' | 'over'>('waiting');
  const [error, setError] = useState<unknown>(undefined);
  const reached = reachedIn(requests, goals);
  useEffect(() => {
    const task = new AbortController();
    const { signal } = task;
    waitForFirstToken({ issuer, goals, signal, setRequests, setError }).then(
      setState,
      (failed: unknown) => signal.aborted || isSignedOut(failed) || setError(failed),
    );
    return () => task.abort();
  }, []);
  return (
    <>
      <ul class="card padded goals" aria-label="What has to succeed">
        {goals.map((goal) => (
          <li key={goal}>
            {GOALS[goal]} {reached.includes(goal) ? <Mark kind="good">Succeeded</Mark> : <Mark>Not yet</Mark>}
          </li>
        ))}
      </ul>
      <Arrival>{STATES[state]}</Arrival>
      {state === 'over' && (
        <button type="button" class="primary" onClick={again}>
          Wait again
        </button>
      )}
      <ProblemPlace error={error} />
      {requests.length > 0 && <Requests requests={requests} />}
      <News text={[STATES[state], ...reached.map((goal) => `${GOALS[goal]} has succeeded.`)].join(' ')} />
    </>
  );
}

const STATES = {
  waiting: 'The page looks for requests of this issuer.',
  done: 'The partner is set up: its tokens are accepted.',
  over: 'Ten minutes have passed. Run the code of the partner, then wait again.',
} as const;

function Requests({ requests }: { requests: readonly Request[] }) {
  return (
    <Table
      caption="Requests since the wait began"
      columns={[
        {
          title: 'Request',
          cell: ({ event, requestId }) => (
            <a href={address('#/requests/?', requestId)}>{eventInWords(event)}</a>
          ),
        },
        { title: 'When', cell: ({ occurredAt }) => <Time at={occurredAt} /> },
        {
          title: 'Result',
          cell: ({ succeeded }) =>
            succeeded ? <Mark kind="good">Succeeded</Mark> : <Mark kind="bad">Refused</Mark>,
        },
        { title: 'Reason', cell: (request) => <Reason request={request} /> },
      ]}
      rows={requests}
    />
  );
}

function Reason({ request: { own, cause, remedy, expected, found } }: { request: Request }) {
  const parts = [cause, remedy].filter((part) => part !== null).map(sentenceOf);
  return (
    <>
      <WithCode text={parts.join(' ')} />
      {expected !== null && found !== null && (
        <>
          {' '}
          Expected <Name>{expected}</Name>, found <Name>{found}</Name>.
        </>
      )}
      {!own && ' The request may be another partner’s: no entry has its issuer.'}
    </>
  );
}
