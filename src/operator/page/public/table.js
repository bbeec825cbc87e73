// Tables that become lists of cards where the page is narrow, and lists that go on page by page.
import { SignedOutError, isAborted } from './instance-api.js';
import { h } from './dom.js';
import { problemPlace, forgetProblem, tellProblem } from './states.js';

/**
 * Roles are written out: where rows are no table rows for the eye, browsers would forget that they are some.
 * @param {string} caption says what is listed; unseen
 * @param {{ title: string, cell: (row: any) => any, class?: string }[]} columns the first one names the row
 */
export function table(caption, columns, rows) {
  const body = h(
    'tbody',
    { role: 'rowgroup' },
    rows.map((row) => tableRow(columns, row)),
  );
  const heads = columns.map(({ title, class: kind }) =>
    h('th', { role: 'columnheader', scope: 'col', class: kind }, title),
  );
  return h(
    'table',
    { role: 'table', class: 'card rows' },
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
    button.addEventListener('click', async () => {
      if (button.ariaDisabled === 'true') return;
      button.ariaDisabled = 'true';
      forgetProblem(problem);
      try {
        const page_ = await next(page.nextCursor);
        const from = rows.length;
        rows.push(...page_.data);
        draw(page_, from);
      } catch (error) {
        button.ariaDisabled = 'false';
        if (!isAborted(error) && !(error instanceof SignedOutError)) tellProblem(problem, error);
      }
    });
    return button;
  };
  draw(first);
  return place;
}

/** The button that was pressed has gone: the first row that it brought takes the focus. */
function focusRow(list, index) {
  const items = list.querySelectorAll('tbody > tr, .cards > li');
  const item = items[Math.min(index, items.length - 1)];
  if (item === undefined) return;
  item.tabIndex = -1;
  item.focus();
}
