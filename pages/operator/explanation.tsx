// The explanation of a token: the failed check, all checks, the claims, and what would be issued.
import type { AnswerOf } from './api.js';
import { address } from './navigation.js';
import { Code, EntryLink, Facts, Mark, Name, Phrases, Section, Soft, WholeTime, WithCode } from './parts.js';
import { Comparison, ReasonMark, Why } from './refusal.js';
import { counted, duration, flowInWords, roleInWords } from './words.js';

export type Explained = AnswerOf<'POST /explain'>;
type Check = Explained['checks'][number];
type Token = Explained['tokens'][number];

const CHECK_MARKS = {
  passed: <Mark kind="good">Passed</Mark>,
  failed: <Mark kind="bad">Failed</Mark>,
  'not-reached': <Mark>Not reached</Mark>,
} as const;
const WAYS_TO_USERS: Readonly<Record<string, string>> = {
  link: 'by a link of an earlier token',
  email: 'by the e-mail address',
  entry: 'by name in the entry',
  provisioning: 'new: would be created',
};

export function Explanation({ explanation }: { explanation: Explained }) {
  const { outcome, refusal, checks, tokens, issued, notes, asOf, flow } = explanation;
  const isAccepted = outcome === 'accepted';
  const failed = checks.find(({ state }) => state === 'failed');
  return (
    <>
      <section class={`card padded outcome ${isAccepted ? 'good' : 'bad'}`}>
        <h2 tabIndex={-1}>{isAccepted ? 'It would be accepted' : 'It would be refused'}</h2>
        <p class="soft">
          {flowInWords(flow)}, checked as of <WholeTime at={asOf} />
        </p>
        {refusal !== null && (
          <>
            <p class="reason">
              <ReasonMark reason={refusal.reason} />
            </p>
            <Why {...refusal} expected={failed?.expected} found={failed?.found} />
          </>
        )}
        {issued !== null && <Issued issued={issued} />}
        {notes.length > 0 && <Phrases items={notes} look="phrases" />}
      </section>
      <Section title="Checks">
        <Checks checks={checks} />
      </Section>
      <Section title="What the token says">
        {tokens.map((token) => (
          <TokenCard key={token.party} token={token} />
        ))}
      </Section>
    </>
  );
}

function Issued({ issued }: { issued: NonNullable<Explained['issued']> }) {
  if (issued.kind === 'session')
    return (
      <p>
        {issued.lifetimeSeconds === null
          ? 'A session would be opened.'
          : `A session of ${duration(issued.lifetimeSeconds)} would be opened.`}
      </p>
    );
  return (
    <Facts
      pairs={[
        ['Access token for', duration(issued.lifetimeSeconds)],
        ['Would end', <WholeTime at={issued.expiresAt} />],
        ['Scopes', issued.scopes === null ? 'not limited' : issued.scopes.join(' ')],
        ['Audience', issued.audience ?? 'this instance'],
        ['Bound to the key', issued.keyThumbprint ?? 'none'],
      ]}
    />
  );
}

/** Failed checks are open. If a check failed, the others are folded. */
function Checks({ checks }: { checks: readonly Check[] }) {
  const inState = (wanted: Check['state']) => checks.filter(({ state }) => state === wanted);
  const failed = inState('failed');
  if (failed.length === 0) return <CheckList checks={checks} />;
  const folded = [
    { some: inState('passed'), word: 'passed' },
    { some: inState('not-reached'), word: 'not reached' },
  ];
  return (
    <>
      <CheckList checks={failed} />
      {folded
        .filter(({ some }) => some.length > 0)
        .map(({ some, word }) => (
          <details key={word}>
            <summary>
              {counted(some.length, 'check')} {word}
            </summary>
            <CheckList checks={some} />
          </details>
        ))}
    </>
  );
}

function CheckList({ checks }: { checks: readonly Check[] }) {
  return (
    <ol class="checks card" role="list">
      {checks.map(({ check, about, party, state, expected, found }, index) => (
        <li key={index} class={state}>
          {CHECK_MARKS[state]}
          <div>
            <strong>{check}</strong>
            {party && ` · ${party}`}{' '}
            {about !== null && (
              <Soft>
                <WithCode text={about} />
              </Soft>
            )}
            <Comparison expected={expected} found={found} />
          </div>
        </li>
      ))}
    </ol>
  );
}

function TokenCard({ token: { party, content, entry, user } }: { token: Token }) {
  return (
    <div class="card padded">
      <h3>{party === 'actor' ? 'Actor' : 'Subject'}</h3>
      <Facts
        pairs={[
          ['Issuer', content.issuer === null ? 'not readable' : <Name>{content.issuer}</Name>],
          ['Key id', content.kid === null ? 'none' : <Code>{content.kid}</Code>],
          ['Algorithm', content.algorithm],
          ['Subject (masked)', content.subject !== null && <Name>{content.subject}</Name>],
          ['E-mail address (masked)', content.email !== null && <Name>{content.email}</Name>],
          ['Role claim', content.role],
          ['Trusted entry', entry === null ? 'none' : <EntryLink label={entry.label} />],
          ['User', user !== null && <UserOf user={user} />],
          ['Projects', user?.projects.join('; ')],
        ]}
      />
      {entry !== null && (
        <>
          <p class="soft">{counted(entry.policy.length, 'rule')} of the entry:</p>
          <Phrases items={entry.policy} look="phrases" />
        </>
      )}
    </div>
  );
}

function UserOf({ user: { id, by, roleBefore, roleAfter } }: { user: NonNullable<Token['user']> }) {
  const how = WAYS_TO_USERS[by];
  const before = roleBefore === roleAfter || roleBefore === null ? '' : `${roleInWords(roleBefore)}, then `;
  return (
    <>
      {id !== null && <a href={address('#/users/?', id)}>to the user</a>}
      {id !== null && ', found '}
      {how} ({roleAfter === null ? 'does not sign in' : `${before}${roleInWords(roleAfter)}`})
    </>
  );
}
