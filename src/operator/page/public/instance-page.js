// What the instance is: licence, switches, who may frame it, where the trail goes, its settings and its version.
import { card, code, facts, h, isolated, list, mark, soft } from './dom.js';
import { read } from './instance-api.js';
import { pageHead, section } from './shell.js';
import { empty, filled } from './states.js';
import { table } from './table.js';
import { counted, duration, timeFromNow, wholeTime } from './wording.js';

const DATABASES = { postgresql: 'PostgreSQL', embedded: 'Embedded' };
const STATES = { set: 'Set', default: 'Default', unset: 'Not set' };

export function instancePage({ signal }) {
  return [
    pageHead('Instance', {
      lead: 'How the instance was started, and its state now. Settings are environment variables; the instance reads them when it starts.',
    }),
    filled(() => read('/overview', { signal }), show),
  ];
}

function show(overview) {
  const { warnings, notes, frameAncestors, sinks, retentionDays, variables } = overview;
  return [
    warnings.length > 0 && section('What needs attention', list(warnings)),
    h(
      'div',
      { class: 'two' },
      section('Token exchange', availability(overview)),
      section('Licence', license(overview)),
    ),
    h(
      'div',
      { class: 'two' },
      section('This instance', runtime(overview)),
      section('Who may frame it', framing(frameAncestors)),
    ),
    section(
      'Audit trail',
      factCard([['Kept', retentionDays === null ? 'for ever' : `for ${counted(retentionDays, 'day')}`]]),
      sinkTable(sinks),
    ),
    section('Settings', settings(variables)),
    notes.length > 0 && section('Notes', list(notes)),
  ].filter(Boolean);
}

function availability({ tokenExchange: { available, explanation, embedLogin, exchange } }) {
  const onOff = (isOn) => mark(isOn ? 'good' : '', isOn ? 'On' : 'Off');
  return factCard([
    ['Feature', available ? mark('good', 'Available') : mark('bad', 'Not available')],
    ['Why not', available ? null : explanation],
    ['Embedded login', onOff(embedLogin)],
    ['Token exchange', onOff(exchange)],
  ]);
}

function license({ license: held }) {
  if (held === null) return factCard([['Licence', 'none']]);
  return factCard([
    ['State', held.ended ? mark('bad', 'Ended') : mark('good', 'Valid')],
    ['Until', timeFromNow(held.until, 'no date')],
    ['Features', held.features.length === 0 ? 'none' : held.features.map((feature) => [code(feature), ' '])],
  ]);
}

function runtime({ version, baseUrl, instance, now }) {
  return factCard([
    ['Address', isolated(baseUrl)],
    ['Version', version],
    ['Started', timeFromNow(instance.startedAt)],
    ['Database', `${DATABASES[instance.database] ?? instance.database} ${instance.databaseVersion ?? ''}`],
    ['Node.js', instance.node],
    ['Process', String(instance.processId)],
    [
      'Leader',
      instance.leader
        ? 'yes: it fetches keys, purges and streams'
        : 'no: another instance does the shared work',
    ],
    ['Clock', wholeTime(now)],
  ]);
}

function framing(origins) {
  if (origins === null)
    return card(
      h('p', {}, 'The instance sets no limit: any site may, unless a reverse proxy sends frame-ancestors.'),
    );
  return origins.length === 0 ? card(h('p', {}, 'Nobody.')) : list(origins.map(isolated));
}

function sinkTable(sinks) {
  if (sinks.length === 0)
    return empty(
      'No sinks',
      'The trail stays in the database only. Variables that begin with SVC_AUDIT_ stream it.',
    );
  return table(
    'Sinks',
    [
      { title: 'Sink', cell: ({ name }) => isolated(name) },
      {
        title: 'Lags behind by',
        cell: ({ lagSeconds }) =>
          lagSeconds === null ? 'not known here: the leader streams' : duration(lagSeconds),
      },
    ],
    sinks,
  );
}

function settings(variables) {
  const given = variables.filter(({ state }) => state === 'set');
  const others = variables.filter(({ state }) => state !== 'set');
  return [
    given.length === 0
      ? empty('Nothing is set', 'Variables that are set will be listed here.')
      : variableTable('Settings that are set', given),
    h(
      'details',
      {},
      h('summary', {}, `${counted(others.length, 'other setting')}, at their defaults`),
      variableTable('Other settings', others),
    ),
  ];
}

function variableTable(caption, variables) {
  return table(
    caption,
    [
      { title: 'Variable', cell: ({ name }) => code(name) },
      { title: 'Value', cell: ({ value, secret, state }) => valueOf(value, secret && state === 'set') },
      { title: 'State', cell: ({ state }) => STATES[state] ?? state },
    ],
    variables,
  );
}

function valueOf(value, isSecret) {
  if (isSecret) return soft('secret');
  return value === null || value === '' ? '—' : code(value);
}

function factCard(pairs) {
  return card(facts(pairs));
}
