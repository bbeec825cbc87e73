// Finds users by id or by the beginning of an e-mail address.
import { useState } from 'preact/hooks';
import type { ItemOf } from './api.js';
import { call } from './api.js';
import { Field, Form } from './form.js';
import { textIn } from './form-data.js';
import { Mark, Name, PageHead, Time, UserLink } from './parts.js';
import { Empty, Pages } from './states.js';
import { Table } from './table.js';
import { counted, nameOf, roleInWords } from './words.js';

type User = ItemOf<'POST /users/search'>;

export function UsersView() {
  const [asked, setAsked] = useState({ search: '', count: 0 });
  const { search } = asked;
  const find = async (data: FormData) => textIn(data, 'search');
  return (
    <>
      <PageHead title="Users" />
      <Form
        button="Search"
        search="find"
        send={find}
        done={(text) => setAsked({ search: text, count: asked.count + 1 })}
      >
        <Field
          name="search"
          label="Search"
          type="search"
          hint="The beginning of an e-mail address, or an id"
        />
      </Form>
      <Pages
        load={(cursor, signal) =>
          call('POST /users/search', { body: { cursor, ...(search !== '' && { search }) }, signal })
        }
        by={asked}
        empty={<None search={search} />}
      >
        {(users, [first]) => (
          <>
            {first?.total ? <p class="soft">{counted(first.total, 'user')} in all.</p> : null}
            <UserTable users={users} />
          </>
        )}
      </Pages>
    </>
  );
}

function None({ search }: { search: string }) {
  if (search === '')
    return (
      <Empty title="No users yet" text="Users are created by a first token, or by svc-admin users create." />
    );
  return (
    <Empty
      title="No user matches"
      text="No user has this id, or an e-mail address that begins with it. Users of partners are created with their first token."
    />
  );
}

function UserTable({ users }: { users: readonly User[] }) {
  return (
    <Table
      caption="Users"
      columns={[
        { title: 'User', cell: (user) => <UserLink {...user} /> },
        { title: 'Name', cell: (user) => <Name>{nameOf(user) === user.email ? '—' : nameOf(user)}</Name> },
        { title: 'Role', cell: ({ role }) => roleInWords(role) },
        { title: 'State', cell: ({ enabled }) => <EnabledMark isEnabled={enabled} /> },
        { title: 'Last sign-in', class: 'when', cell: ({ lastSignInAt }) => <Time at={lastSignInAt} /> },
        { title: 'Created', class: 'when', cell: ({ createdAt }) => <Time at={createdAt} /> },
      ]}
      rows={users}
    />
  );
}

export function EnabledMark({ isEnabled }: { isEnabled: boolean }) {
  return isEnabled ? <Mark kind="good">Enabled</Mark> : <Mark kind="bad">Disabled</Mark>;
}
