// Tables that become lists of cards where the page is narrow, and lists that go on page by page.
import { h } from './dom.js';
import { attempt, problemPlace } from './states.js';

/**
 * Roles are written out: where rows are no table rows for the eye, browsers would forget that they are some.
 * @param {string} caption says what is listed; unseen
 * @param {{ title: string, cell: (row: any) => any, class?: string }[]} columns the first one names the row
 * @param {{ details?: (row: any) => any, isOpen?: boolean }} more with `details` each row is one line, which opens to them
 */
export function table(caption, columns, rows, { details, isOpen = false } = {}) {
  const body = h(
    'tbody',
    { role: 'rowgroup' },
    rows.map((row) => (details ? rowWithDetails(columns, row, details, isOpen) : tableRow(columns, row))),
  );
  const shown = details ? [...columns, { title: 'More', class: 'action' }] : columns;
  const heads = shown.map(({ title, class: kind }) =>
    h('th', { role: 'columnheader', scope: 'col', class: kind }, title),
  );
  return h(
    'table',
    { role: 'table', class: `card rows${details ? ' dense' : ''}` },
    h('caption', { class: 'unseen' }, caption),
    h('thead', { role: 'rowgroup' }, h('tr', { role: 'row' }, heads)),
    body,
  );
}

function tableRow(columns, row) {
  const cells = columns.map(({ title, cell, class: kind }, index) => {
    const isName = index === 0;
    const attributes = { role: isName ? 'rowheader' : 'cell', class: kind, ...(isName && { scope: 'row' }) };
    return h(
      isName ? 'th' : 'td',
      attributes,
      h('span', { class: 'head', 'aria-hidden': 'true' }, title),
      h('div', {}, cell(row)),
    );
  });
  return h('tr', { role: 'row' }, cells);
}

/** A row, and what it opens to, which is made when it is wanted first. */
function rowWithDetails(columns, row, details, isOpen) {
  const place = h('td', { role: 'cell', colspan: columns.length + 1 });
  const more = h('tr', { role: 'row', class: 'more', hidden: true }, place);
  const button = h('button', { type: 'button', class: 'small' }, 'Details');
  const open = (isShown) => {
    button.ariaExpanded = String(isShown);
    more.hidden = !isShown;
    if (isShown && !place.hasChildNodes()) place.append(h('div', {}, details(row)));
  };
  button.addEventListener('click', () => open(more.hidden));
  open(isOpen);
  const whole = tableRow([...columns, { title: 'More', class: 'action', cell: () => button }], row);
  // A line may be too narrow for them.
  for (const cell of whole.querySelectorAll('.head + div')) cell.title = cell.textContent;
  return [whole, more];
}

/**
 * A list whose rest is read when asked for.
 * @param {{ data: any[], nextCursor: string | null }} first
 * @param {{ show: (rows: any[]) => HTMLElement, next: (cursor: string) => Promise<unknown>, empty: () => Node, ended?: (page: any) => any }} of
 *   `ended` says how far a page has come that is not the last
 */
export function pages(first, { show, next, empty, ended = () => null }) {
  const rows = [...first.data];
  const list = h('div', {});
  const rest = h('div', { class: 'rest' });
  const problem = problemPlace();
  const place = h('div', {}, list, rest, problem);
  const draw = (page, focusFrom) => {
    list.replaceChildren(
      rows.length === 0 && page.nextCursor === null ? empty() : rows.length > 0 ? show(rows) : '',
    );
    rest.replaceChildren(
      ...(page.nextCursor === null ? [] : [h('p', { class: 'soft' }, ended(page)), moreButton(page)].flat()),
    );
    if (focusFrom !== undefined) focusRow(list, focusFrom);
  };
  const moreButton = (page) => {
    const button = h('button', { type: 'button' }, rows.length === 0 ? 'Look further back' : 'Load more');
    button.addEventListener('click', () =>
      attempt(button, problem, async () => {
        const more = await next(page.nextCursor);
        const from = rows.length;
        rows.push(...more.data);
        draw(more, from);
      }),
    );
    return button;
  };
  draw(first);
  return place;
}

/** The button that was pressed has gone: the first row that it brought takes the focus. */
function focusRow(list, index) {
  const items = list.querySelectorAll('tbody > tr:not(.more)');
  const item = items[Math.min(index, items.length - 1)];
  if (item === undefined) return;
  item.tabIndex = -1;
  item.focus();
}
