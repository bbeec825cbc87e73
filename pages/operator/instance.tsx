// The instance: licence, switches, allowed frames, sinks, settings and version.
import { LICENSE_WORDS } from '../../src/config/license-words.js';
import type { AnswerOf } from './api.js';
import { call } from './api.js';
import {
  Card,
  Code,
  Facts,
  Mark,
  Name,
  PageHead,
  Phrases,
  Section,
  Soft,
  TimeFromNow,
  WholeTime,
  WithCode,
} from './parts.js';
import { Loaded } from './states.js';
import { Table } from './table.js';
import { counted, duration } from './words.js';

type Overview = AnswerOf<'GET /overview'>;
type Variable = Overview['variables'][number];

const DATABASES: Readonly<Record<string, string>> = { postgresql: 'PostgreSQL', embedded: 'Embedded' };
const STATES: Readonly<Record<Variable['state'], string>> = {
  set: 'Set',
  default: 'Default',
  unset: 'Not set',
  problem: 'Refused',
};

export function InstanceView() {
  return (
    <>
      <PageHead
        title="Instance"
        lead="The settings and the present state of the instance. Settings are environment variables. The instance reads them when it starts."
      />
      <Loaded load={(signal) => call('GET /overview', { signal })}>
        {(overview) => <Whole overview={overview} />}
      </Loaded>
    </>
  );
}

function Whole({ overview }: { overview: Overview }) {
  const { warnings, frameAncestors, sinks, retentionDays, variables, license } = overview;
  const kept = retentionDays === null ? 'for ever' : `for ${counted(retentionDays, 'day')}`;
  return (
    <>
      {warnings.length > 0 && (
        <Section title="What needs attention">
          <Phrases items={warnings} />
        </Section>
      )}
      <div class="two">
        <Section title="Token exchange">
          <Availability state={overview.tokenExchange} />
        </Section>
        <Section title="Licence">
          <License license={license} />
          <p class="soft">
            <WithCode text={LICENSE_WORDS} />
          </p>
        </Section>
        <Section title="This instance">
          <Runtime overview={overview} />
        </Section>
        <Section title="Who may frame it">
          <Framing origins={frameAncestors} />
        </Section>
      </div>
      <Section title="Audit trail">
        <Facts isCard pairs={[['Kept', kept]]} />
        <Sinks sinks={sinks} />
      </Section>
      <Section title="Settings">
        <Settings variables={variables} />
      </Section>
    </>
  );
}

const ON = <Mark kind="good">On</Mark>;
const OFF = <Mark>Off</Mark>;

function Availability({ state }: { state: Overview['tokenExchange'] }) {
  const { available, explanation, embedLogin, exchange, idAssertion } = state;
  return (
    <Facts
      isCard
      pairs={[
        ['Feature', available ? <Mark kind="good">Available</Mark> : <Mark kind="bad">Not available</Mark>],
        ['Reason', available ? null : explanation],
        ['Embedded login', embedLogin ? ON : OFF],
        ['Token exchange', exchange ? ON : OFF],
        ['Identity assertions', idAssertion ? ON : OFF],
      ]}
    />
  );
}

function License({ license }: { license: Overview['license'] }) {
  if (license === null) return <Facts isCard pairs={[['Licence', 'none']]} />;
  const { ended, until, features } = license;
  return (
    <Facts
      isCard
      pairs={[
        ['State', ended ? <Mark kind="bad">Ended</Mark> : <Mark kind="good">Valid</Mark>],
        ['Until', <TimeFromNow at={until} otherwise="no date" />],
        ['Features', features.length === 0 ? 'none' : <Code>{features.join(', ')}</Code>],
      ]}
    />
  );
}

function Runtime({ overview: { version, baseUrl, instance, now } }: { overview: Overview }) {
  const { startedAt, database, databaseVersion, node, processId, leader } = instance;
  return (
    <Facts
      isCard
      pairs={[
        ['Address', <Name>{baseUrl}</Name>],
        ['Version', version],
        ['Started', <TimeFromNow at={startedAt} />],
        ['Database', `${DATABASES[database] ?? database} ${databaseVersion}`],
        ['Node.js', node],
        ['Process', String(processId)],
        [
          'Leader',
          leader ? 'yes: it fetches keys, purges and streams' : 'no: another instance does the shared work',
        ],
        ['Clock', <WholeTime at={now} />],
      ]}
    />
  );
}

const ANYBODY = 'Any site may frame the instance, unless a reverse proxy sends frame-ancestors.';

function Framing({ origins }: { origins: Overview['frameAncestors'] }) {
  const nobody = origins === null ? ANYBODY : 'Nobody.';
  return (
    <Card>
      {origins?.map((origin) => (
        <Name key={origin}>{origin}</Name>
      ))}
      {!origins?.length && <p>{nobody}</p>}
    </Card>
  );
}

function Sinks({ sinks }: { sinks: Overview['sinks'] }) {
  return (
    <Table
      caption="Sinks"
      columns={[
        { title: 'Sink', cell: ({ name }) => <Name>{name}</Name> },
        {
          title: 'Lags behind by',
          cell: ({ lagSeconds }) =>
            lagSeconds === null ? 'not known here: the leader streams' : duration(lagSeconds),
        },
      ]}
      rows={sinks}
      empty={{
        title: 'No sinks',
        text: 'The trail stays in the database only. Variables that begin with SVC_AUDIT_ stream it.',
      }}
    />
  );
}

function Settings({ variables }: { variables: readonly Variable[] }) {
  const given = variables.filter(({ state }) => state === 'set');
  const others = variables.filter(({ state }) => state !== 'set');
  return (
    <>
      <VariableTable caption="Settings that are set" variables={given} />
      <details>
        <summary>{counted(others.length, 'other setting')}, at their defaults</summary>
        <VariableTable caption="Other settings" variables={others} />
      </details>
    </>
  );
}

function VariableTable({ caption, variables }: { caption: string; variables: readonly Variable[] }) {
  return (
    <Table
      caption={caption}
      columns={[
        { title: 'Variable', cell: ({ name }) => <code>{name}</code> },
        { title: 'Value', cell: (variable) => <Value variable={variable} /> },
        { title: 'State', cell: ({ state }) => STATES[state] },
      ]}
      rows={variables}
    />
  );
}

function Value({ variable: { value, secret, state } }: { variable: Variable }) {
  if (secret && state === 'set') return <Soft>secret</Soft>;
  return value === null || value === '' ? <>—</> : <Code>{value}</Code>;
}
