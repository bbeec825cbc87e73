// Users, seats and active users of each issuer by month, and the same as a file.
import { useState } from 'preact/hooks';
import type { UsageRow } from '../../src/administration/usage/usage-rows.js';
import { usageCsv, usageRows } from '../../src/administration/usage/usage-rows.js';
import { call } from './api.js';
import { Options } from './form.js';
import { Mark, Name, PageHead } from './parts.js';
import { saveFile } from './save-file.js';
import { Loaded } from './states.js';
import { Table } from './table.js';
import { number } from './words.js';

/** Includes the current month. */
const MONTHS = [
  { value: '1', text: 'This month' },
  { value: '3', text: 'Last 3 months' },
  { value: '12', text: 'Last 12 months' },
  { value: '24', text: 'Last 24 months' },
];

export function UsageView() {
  const [months, setMonths] = useState('12');
  const range = (
    <select aria-label="Time" value={months} onChange={({ currentTarget }) => setMonths(currentTarget.value)}>
      <Options options={MONTHS} value={months} />
    </select>
  );
  return (
    <>
      <PageHead
        title="Usage"
        lead="Users have a seat while they are linked to the issuer and not disabled. A user is active in a month with a first login or exchange. Months are in UTC. The numbers may be a few minutes old."
        actions={range}
      />
      <Loaded
        load={(signal) => call('GET /usage', { query: { months: Number(months) }, signal })}
        by={months}
      >
        {({ data }) => <Usage rows={usageRows(data)} />}
      </Loaded>
    </>
  );
}

function Usage({ rows }: { rows: readonly UsageRow[] }) {
  return (
    <>
      <Table
        caption="Users by issuer and month"
        columns={[
          { title: 'Issuer', cell: ({ issuer }) => <Name>{issuer}</Name> },
          { title: 'Users now', class: 'number', cell: ({ users }) => number(users) },
          { title: 'Seats', cell: (row) => <Seats {...row} /> },
          { title: 'Month', cell: ({ month }) => month || '—' },
          { title: 'Active users', class: 'number', cell: ({ activeUsers }) => number(activeUsers) },
        ]}
        rows={rows}
        empty={{
          title: 'No issuers',
          text: 'Issuers with a trusted entry or with users will be listed here.',
        }}
      />
      <div class="buttons">
        <button type="button" onClick={() => saveFile('usage', usageCsv(rows), 'csv')}>
          Save as CSV
        </button>
      </div>
    </>
  );
}

function Seats({ users, maxUsers }: UsageRow) {
  if (maxUsers === null) return <>any number</>;
  return (
    <>
      {number(maxUsers)} {users >= maxUsers && <Mark kind="warn">None free</Mark>}
    </>
  );
}
