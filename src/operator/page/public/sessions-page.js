// Who is signed in now: in partners' products, and here.
import { read } from './instance-api.js';
import { operatorSessionTable, sessionTable } from './session-tables.js';
import { pageHead, section } from './shell.js';
import { empty, filled } from './states.js';
import { pages } from './table.js';

export function sessionsPage(context) {
  const list = (path, show, nothing) => {
    const next = (cursor) => read(`${path}?${new URLSearchParams(cursor ? { cursor } : {})}`, context);
    return filled(
      () => next(undefined),
      (first) => pages(first, { show: (rows) => show(rows, context), next, empty: nothing }),
    );
  };
  return [
    pageHead('Sessions', { lead: 'To end all sessions of one user at once, open the user.' }),
    section(
      'Embedded sessions',
      list('/sessions', sessionTable, () =>
        empty('Nobody is signed in', 'A session is listed here from an embedded login until it ends.'),
      ),
    ),
    section(
      'Sign-ins here',
      list('/operator-sessions', operatorSessionTable, () =>
        empty('Nobody', 'Operators who are signed in will be listed here.'),
      ),
    ),
  ];
}
